"""The loop of an evaluator process, which waits for checkpoints of other processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import watched_folder
from estimator_bridge.training.continuous.evaluation_results import EvalResult, EvalStatus, Outcome
from estimator_bridge.training.continuous.evaluator import Evaluator
from estimator_bridge.training.continuous.job_end import JobEnd
from estimator_bridge.training.continuous.listeners import ContinuousEvalListener

__all__ = ["evaluate_until_final"]

_logging = tf.compat.v1.logging
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


def evaluate_until_final(
    evaluator: Evaluator,
    eval_spec: Any,
    listener: ContinuousEvalListener,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
    job_end: JobEnd | None = None,
) -> Outcome:
    """Evaluates each new checkpoint, until one is the last, training ends or the listener stops.

    Args:
      evaluator: evaluates and exports.
      eval_spec: an EvalSpec with the waits before the first evaluation and between evaluations.
      listener: called before and after evaluations.
      sleep: waits for a number of seconds.
      clock: the time in seconds.
      job_end: whether further checkpoints will come; None if that cannot be known.

    Returns:
      The metrics of the last evaluation, and the results of its exporters.

    Raises:
      ModelDirLostError: model_dir was removed, renamed or replaced: no checkpoint would come.
      WorkerError: no process that trains has answered for ``session_creation_timeout_secs``, and
        no new checkpoint has come.
    """
    if eval_spec.start_delay_secs:
        _logging.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        sleep(eval_spec.start_delay_secs)
    outcome: Outcome = (None, None)
    step: int | None = None  # of the last evaluation
    with watched_folder(evaluator.model_dir, "continuous evaluation") as folder:
        while True:
            folder.check()
            start_time = clock()
            if not listener.before_eval():
                _logging.info("Evaluation stops, as before_eval of its listener asks for.")
                return outcome
            # Read first: the last checkpoint was written before the note of the end.
            end_step = job_end.announced_step() if job_end else None
            result, exports = evaluator.evaluate_and_export()
            if result.metrics is not None:
                outcome, step = (result.metrics, exports), int(result.metrics[_GLOBAL_STEP])
                if job_end:
                    job_end.note_checkpoint(clock())
            if not listener.after_eval(result):
                _logging.info("Evaluation stops, as after_eval of its listener asks for.")
                return outcome
            if evaluator.is_final(result):
                _logging.info("Exiting evaluation: %s is the last.", result.checkpoint_path)
                return outcome
            if end_step is not None and step is not None and step >= end_step:
                _logging.info("Exiting evaluation: training has ended at step %d.", end_step)
                return outcome
            if job_end and job_end.is_over(step, clock()):
                _logging.info("Exiting evaluation: nobody trains, and training ended at its step.")
                return outcome
            _wait_for_next(eval_spec.throttle_secs, clock() - start_time, result, sleep)


def _wait_for_next(
    throttle_secs: float, elapsed: float, result: EvalResult, sleep: Callable[[float], None]
) -> None:
    seconds_left = throttle_secs - elapsed
    if seconds_left > 0:
        _logging.info("Waiting %f secs before starting next eval run.", seconds_left)
        sleep(seconds_left)
    elif not throttle_secs and result.status != EvalStatus.EVALUATED:
        _logging.warning(
            "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) "
            "new checkpoint. Please consider to increase it."
        )
