"""Profiles a stretch of steps for TensorBoard's profiler."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.training.hook_schedule import Due
from estimator_bridge.training.own_hooks import ObservingHook

__all__ = ["ProfileSteps"]


class ProfileSteps(ObservingHook):
    """Profiles steps FIRST to LAST of a training, with all of the process around them.

    The loop is cut there: the steps before and after run in calls of their own. Where the calls
    have a fixed number of steps (TPUConfig's iterations_per_loop), whole calls are profiled.

    Args:
      first: the first step, from 1 on.
      last: the last one.
      directory: the folder that TensorBoard reads, such as model_dir.

    Raises:
      ValueError: first is not from 1 to last.
    """

    def __init__(self, first: int, last: int, directory: str):
        if not 1 <= first <= last:
            raise ValueError(
                f"ProfileSteps(first, last) must be steps from 1 on, in order; got {first}, {last}."
            )
        self._first, self._last, self._directory = first, last, directory
        self._starts = self._is_running = self._is_over = False

    def steps_until_due(self, step: int) -> Due:
        """Returns the steps to the next end of a call: before the first, or after the last."""
        if self._is_over or step >= self._last:
            return Due(steps=math.inf)
        if step < self._first - 1:
            return Due(steps=self._first - 1 - step)
        self._starts = not self._is_running
        return Due(steps=self._last - step, now=self._starts)

    def before_run(self, run_context: Any) -> None:
        """Starts the profiler, if the first step is next."""
        del run_context
        if not self._starts:
            return
        self._starts = False
        try:
            tf.profiler.experimental.start(self._directory)
            self._is_running = True
        except tf.errors.AlreadyExistsError:
            self._is_over = True
            logging.warning("Steps are not profiled: another profile is in progress.")

    def observe(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> None:
        """Stops the profiler after the last step."""
        del total, loss, examples
        if self._is_running and step >= self._last:
            self._stop()

    def end(self, session: Any) -> None:
        """Stops the profiler, if the training ends before the last step."""
        del session
        if self._is_running:
            self._stop()

    def _stop(self) -> None:
        self._is_running, self._is_over = False, True
        tf.profiler.experimental.stop()
        logging.info(
            "Profile of steps %d to %d: tensorboard --logdir %s",
            self._first, self._last, self._directory,
        )  # fmt: skip
