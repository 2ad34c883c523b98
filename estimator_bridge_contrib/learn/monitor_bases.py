"""The base classes of monitors, and the monitor that stops training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["BaseMonitor", "EveryN", "StopAtStep", "output_of"]

_Outputs = Mapping[Any, Any]


def output_of(outputs: _Outputs, request: Any) -> Any:
    """Returns a step's value of a request, which is a name, a tensor or an operation."""
    return outputs[request] if request in outputs else outputs[request.name]


class BaseMonitor:
    """Callbacks around each step of a training: subclasses override them and call these too."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """True if the monitor runs on all workers, not on the chief alone."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Called before `begin` with the estimator that trains.

        Raises:
          ValueError: the estimator is None.
        """
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Called before the first step.

        Args:
          max_steps: the last step, or None if it is unknown.

        Raises:
          ValueError: the monitor has begun already.
        """
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: Any = None) -> None:
        """Called after the last step.

        Args:
          session: the session, which can still run operations.

        Raises:
          ValueError: the monitor has not begun.
        """
        del session
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """Called before an epoch.

        Raises:
          ValueError: an epoch has begun already, or the number is negative.
        """
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """Called after an epoch.

        Raises:
          ValueError: the epoch has not begun.
        """
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Called before a step; it may be called again for a step that failed.

        Args:
          step: the step that will be reached.

        Returns:
          Tensors to compute in the step, or their names.

        Raises:
          ValueError: the number is negative.
        """
        if step < 0:
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: _Outputs) -> bool:
        """Called after a step.

        Args:
          step: the step.
          output: the values of the tensors that `step_begin` returned, by what it returned.

        Returns:
          Whether to stop the training.

        Raises:
          ValueError: the step has not begun.
        """
        del output
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Called after `step_end` of all monitors, with a session for further runs."""
        del step, session


class EveryN(BaseMonitor):
    """Callbacks around the first steps, every n-th step and the last one.

    `every_n_post_step` is also called at the end, if it was not for the last step.

    Args:
      every_n_steps: the number of steps from one call to the next.
      first_n_steps: the last of the first steps.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._every_n_step_begin_called = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Called like `step_begin`."""
        del step
        return []

    def every_n_step_end(self, step: int, outputs: _Outputs) -> bool:
        """Called like `step_end`."""
        del step, outputs
        return False

    def every_n_post_step(self, step: int | None, session: Any) -> None:
        """Called like `post_step`; the step is None if none succeeded."""
        del step, session

    def step_begin(self, step: int) -> list[Any]:
        """Calls `every_n_step_begin` if it is the turn of the step."""
        super().step_begin(step)
        self._every_n_step_begin_called = (
            step <= self._first_n_steps
            or step >= self._last_active_step + self._every_n_steps
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._every_n_step_begin_called else []

    def step_end(self, step: int, output: _Outputs) -> bool:
        """Calls `every_n_step_end` if it is the turn of the step."""
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._every_n_step_begin_called else False

    def post_step(self, step: int, session: Any) -> None:
        """Calls `every_n_post_step` if it is the turn of the step."""
        super().post_step(step, session)
        if self._every_n_step_begin_called:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        """Calls `every_n_post_step` unless it was called for the last step."""
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


class StopAtStep(BaseMonitor):
    """Stops training at a step.

    Args:
      num_steps: the number of steps after the beginning.
      last_step: the step to stop at.

    Raises:
      ValueError: not exactly one of the two is given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        """True: each worker stops."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """Notes the first step."""
        super().step_begin(step)
        if self._last_step is None and self._num_steps is not None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: _Outputs) -> bool:
        """Returns whether the step is the last."""
        super().step_end(step, output)
        return self._last_step is not None and step >= self._last_step
