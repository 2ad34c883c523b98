"""A hook that stops training once a checkpoint of a given step exists."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import latest_checkpoint, load_variable
from estimator_bridge.training import Estimator

__all__ = ["StopAtCheckpointStepHook", "global_step_of_folder", "make_stop_at_checkpoint_step_hook"]

_train = tf.compat.v1.train
_SessionRunHook: Any = _train.SessionRunHook


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> Any:
    """Makes a hook that stops training at a global step, for the chief or a worker.

    The chief stops at the step. A worker continues until it sees a checkpoint of that step, so
    that it does not exit while the chief still needs it.

    Args:
      estimator: the estimator, whose config says whether this process is the chief.
      last_step: the global step.
      wait_after_file_check_secs: seconds that a worker waits after each check that found none.

    Returns:
      The hook.
    """
    if estimator.config.is_chief:
        return _train.StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)


class StopAtCheckpointStepHook(_SessionRunHook):
    """Stops training once a checkpoint of a global step exists.

    Args:
      model_dir: the folder of checkpoints.
      last_step: the global step.
      wait_after_file_check_secs: seconds to wait after each check that found none.
      sleep: waits for a number of seconds; time.sleep by default.

    Raises:
      ValueError: model_dir or last_step is None.
    """

    def __init__(
        self,
        model_dir: str,
        last_step: int,
        wait_after_file_check_secs: float = 30,
        sleep: Callable[[float], None] | None = None,
    ):
        for name, value in {"last_step": last_step, "model_dir": model_dir}.items():
            if value is None:
                raise ValueError(f"{name} must be specified, got None.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_after_file_check_secs
        self._sleep = sleep or _sleep
        self._global_step: Any = None

    def steps_until_due(self, step: int) -> float:
        """Returns the steps left to the last step; from then on the hook runs each step."""
        return max(self._last_step - step, 1)

    def begin(self) -> None:
        """Finds the global step.

        Raises:
          RuntimeError: the graph has no global step.
        """
        self._global_step = _train.get_global_step()
        if self._global_step is None:
            raise RuntimeError(
                "Global step should be created to use StopAtCheckpointStepHook: call "
                "tf.compat.v1.train.create_global_step() first."
            )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Checks for the checkpoint once the step is reached."""
        del run_values
        if run_context.session.run(self._global_step) < self._last_step:
            return
        if global_step_of_folder(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            self._sleep(self._wait_secs)


def global_step_of_folder(model_dir: str | os.PathLike[str]) -> int:
    """Returns the global step of the latest checkpoint in a folder; 0 if there is none."""
    try:
        latest = latest_checkpoint(os.fspath(model_dir))
        step = load_variable(latest, tf.compat.v1.GraphKeys.GLOBAL_STEP) if latest else 0
    except (ValueError, tf.errors.OpError):  # being written or replaced
        return 0
    return int(step)


def _sleep(seconds: float) -> None:
    time.sleep(seconds)  # looked up at call time, since tests may replace it
