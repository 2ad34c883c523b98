"""Hooks that stop training: the chief on a condition, the workers when the chief signals it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.training.hook_schedule import NOW, Due

__all__ = ["CheckForStoppingHook", "StopOnPredicateHook", "stop_variable"]

_v1 = tf.compat.v1
_SessionRunHook: Any = _v1.train.SessionRunHook


def stop_variable() -> tf.Variable:
    """Returns the default graph's variable by which the chief tells workers to stop."""
    with _v1.variable_scope("signal_early_stopping", values=[], reuse=_v1.AUTO_REUSE):
        return _v1.get_variable(
            "STOP",
            shape=[],
            dtype=tf.bool,
            initializer=_v1.initializers.constant(False),
            collections=[_v1.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class StopOnPredicateHook(_SessionRunHook):
    """Stops training and signals workers to stop when a function returns True.

    Args:
      should_stop_fn: takes nothing, returns whether to stop.
      run_every_secs: seconds between calls.
      run_every_steps: steps between calls instead.
      clock: returns the time in seconds.

    Raises:
      TypeError: should_stop_fn is not callable.
    """

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        if not callable(should_stop_fn):
            raise TypeError(f"`should_stop_fn` must be callable, got {should_stop_fn!r}.")
        self._should_stop_fn = should_stop_fn
        self._every_secs, self._every_steps = run_every_secs, run_every_steps
        self._clock = clock
        self._last: tuple[int, float] | None = None  # step and time of the last call
        self._global_step: Any = None
        self._stop_var: Any = None
        self._stop_op: Any = None

    def steps_until_due(self, step: int) -> float | Due:
        """Returns the steps until the next call of the function."""
        if self._last is None:
            return 1
        if self._every_steps is not None:
            return max(self._last[0] + self._every_steps - step, 1)
        return NOW if self._is_due(step + 1) else float("inf")

    def begin(self) -> None:
        """Finds the global step, and creates the variable that workers read."""
        self._last = None
        self._global_step = _v1.train.get_global_step()
        self._stop_var = stop_variable()
        self._stop_op = _v1.assign(self._stop_var, True)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Calls the function if it is due."""
        del run_values
        step = int(run_context.session.run(self._global_step))
        if not self._is_due(step):
            return
        self._last = (step, self._clock())
        if self._should_stop_fn():
            logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()

    def _is_due(self, step: int) -> bool:
        if self._last is None:
            return True
        if self._every_steps is not None:
            return step >= self._last[0] + self._every_steps
        return self._every_secs is not None and self._clock() >= self._last[1] + self._every_secs


class CheckForStoppingHook(_SessionRunHook):
    """Stops a worker once `StopOnPredicateHook` on the chief signals it."""

    def __init__(self) -> None:
        self._stop_var: Any = None

    def steps_until_due(self, step: int) -> Due:
        """Runs the hook whenever the loop returns to the host, about once a second."""
        del step
        return NOW

    def begin(self) -> None:
        """Finds or creates the variable that the chief sets."""
        self._stop_var = stop_variable()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Reads the variable and stops if it is set."""
        del run_values
        if run_context.session.run(self._stop_var):
            logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
