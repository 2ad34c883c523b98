"""Listeners: around evaluations, and one that evaluates after each checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.training.continuous.evaluation_results import EvalResult, EvalStatus
from estimator_bridge.training.continuous.evaluator import Evaluator
from estimator_bridge.training.continuous.progress_note import Progress
from estimator_bridge.training.supervision.termination import asked_to_end

__all__ = ["ContinuousEvalListener", "EvaluateAfterSaving"]

_logging = tf.compat.v1.logging
_CheckpointSaverListener: Any = tf.compat.v1.train.CheckpointSaverListener


class ContinuousEvalListener:
    """Is called around evaluations, and may end them."""

    def before_eval(self) -> bool:
        """Called before an evaluation.

        Returns:
          False to skip it and to stop.
        """
        return True

    def after_eval(self, eval_result: EvalResult) -> bool:
        """Called after an evaluation.

        Returns:
          False to stop.
        """
        del eval_result
        return True


class EvaluateAfterSaving(_CheckpointSaverListener):
    """Evaluates each checkpoint that training writes.

    It evaluates the checkpoint that training starts from only if a killed process left that undone.

    Args:
      evaluator: evaluates and exports.
      throttle_secs: the least time from the start of one evaluation to that of the next; the last
        checkpoint is evaluated in any case.
      listener: called around evaluations.
      clock: the time in seconds.
      progress: notes the progress.

    Attributes:
      eval_result: the outcome of the last evaluation; None if there was none.
      export_results: the results of its exporters.
      has_begun: whether there was anything to train.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        throttle_secs: float,
        listener: ContinuousEvalListener,
        clock: Callable[[], float] = time.monotonic,
        progress: Progress | None = None,
    ):
        self._progress = progress
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self._listener = listener
        self._clock = clock
        self.has_begun = False
        self._is_first = True
        self._last: tuple[int, float] | None = None  # step and time of the last evaluation
        self.eval_result: EvalResult | None = None
        self.export_results: list[Any] | None = None

    def begin(self) -> None:
        """Called when training starts."""
        self._is_first, self._last = True, None
        self.has_begun = True
        if self._progress:
            self._progress.begin()

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint, whose evaluation is due from now on."""
        del session
        if self._progress and not self._is_first and not asked_to_end():
            self._progress.evaluate(int(global_step_value))

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called after a checkpoint.

        Returns:
          True to stop training.
        """
        del session
        was_first, self._is_first = self._is_first, False
        if asked_to_end():
            return None
        if was_first:
            if not (self._progress and self._progress.is_left(int(global_step_value))):
                return None
            _logging.warning(
                "The evaluation of step %d, or an export after it, was cut short: it is done now.",
                global_step_value,
            )
        if not self._listener.before_eval():
            _logging.info("Training stops, as before_eval of the evaluation listener asks for.")
            return True
        wait = self._seconds_to_wait()
        if wait > 0:
            _logging.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs): the next may "
                "start in %.0f secs.",
                self._throttle_secs,
                wait,
            )
            if self._progress:
                self._progress.skip()
            return None
        if not self._evaluate(global_step_value):
            _logging.info("Training stops, as after_eval of the evaluation listener asks for.")
            return True
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Called after the last checkpoint: evaluates it, unless that has been done."""
        del session
        is_evaluated = self._last is not None and self._last[0] == global_step_value
        if asked_to_end():
            _logging.info("The last checkpoint is not evaluated: the process was asked to end.")
        elif not is_evaluated and self._listener.before_eval():
            self._evaluate(global_step_value)

    def _seconds_to_wait(self) -> float:
        if self._last is None:
            return 0.0
        return self._last[1] + self._throttle_secs - self._clock()

    def _evaluate(self, step: int) -> bool:
        self._last = (step, self._clock())
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != EvalStatus.EVALUATED:
            raise RuntimeError(
                "There was no new checkpoint after the training. Eval status: "
                f"{self.eval_result.status}, at global step {step}. Training and evaluation must "
                "use the same model_dir, and nothing else may delete its checkpoints."
            )
        return bool(self._listener.after_eval(self.eval_result))
