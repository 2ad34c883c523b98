"""Shows hooks the last step: `run_context.stop_requested` is true."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge.training.own_hooks import CountingHook

__all__ = ["StopAfterHook", "StopAtHook"]

_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook


class StopAfterHook(CountingHook):
    """Requests the stop that the loop makes by itself, for the hooks after this one.

    For evaluation. The original counted batches by a hook between the caller's hooks and the
    spec's. This one fetches nothing and is called once.

    Attributes:
      steps: the number of steps; None if unknown.
    """

    def __init__(self, steps: int | None = None):
        self.steps = steps

    def steps_until_due(self, step: int) -> float:
        """Returns the steps until the last one."""
        del step
        return math.inf if self.steps is None else max(self.steps, 1)

    def skip(self, steps: int) -> None:
        """Counts steps that ran without a call of this hook."""
        if self.steps is not None:
            self.steps -= steps

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Requests the stop, if this was the last step."""
        del run_values
        self.skip(1)
        if self.steps is not None and self.steps <= 0:
            run_context.request_stop()


class StopAtHook(_SessionRunHook):
    """Requests the stop in training, which ends at a global step, however far each run moves it.

    Hooks may assign the global step, so it is read where the end may be.

    Attributes:
      limit: the global step at which training ends; None if there is none.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self._global_step: Any = None

    def begin(self) -> None:
        """Finds the global step."""
        self._global_step = tf.compat.v1.train.get_global_step()

    def steps_until_due(self, step: int) -> float:
        """Returns the steps until the first one that may be the last."""
        return math.inf if self.limit is None else max(self.limit - step, 1)

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Requests the stop, if this was the last step."""
        del run_values
        if self.limit is not None and run_context.session.run(self._global_step) >= self.limit:
            run_context.request_stop()
