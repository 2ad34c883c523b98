"""Training and evaluation in one call."""

from __future__ import annotations

from estimator_bridge.compile_for import current_job
from estimator_bridge.model import TaskType
from estimator_bridge.training.continuous.evaluation_results import Outcome
from estimator_bridge.training.continuous.executor import TrainingExecutor
from estimator_bridge.training.continuous.specs import EvalSpec, TrainSpec, check_eval_spec
from estimator_bridge.training.estimator import Estimator

__all__ = ["train_and_evaluate"]


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> Outcome | None:
    """Trains, and evaluates and exports checkpoints during training.

    In a single process, training is one call of ``train``. After a checkpoint (but at most once per
    ``eval_spec.throttle_secs``) it pauses for an evaluation and the exporters. In a
    cluster (the TF_CONFIG environment variable) the chief and the workers train together, and the
    evaluator waits for their checkpoints, until it has evaluated one of ``train_spec.max_steps``.

    Args:
      estimator: the Estimator.
      train_spec: what to train on.
      eval_spec: what to evaluate on, and what to export.

    Returns:
      The metrics of the last evaluation and the results of its exporters, (None, None) if
      nothing was left to train; None for a chief or worker, which evaluates nothing.

    Raises:
      TypeError: an argument is of another type, or evaluate did not return a dict.
      ValueError: the config writes no checkpoints, TF_CONFIG names an unknown task, or
        evaluate returned no metrics.
    """
    check_eval_spec(eval_spec)
    executor = TrainingExecutor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0). "
            f"Given task id {config.task_id}. Start one evaluator process, with "
            '{"type": "evaluator", "index": 0} in TF_CONFIG.'
        )
    job = current_job()
    if job and job.request.only:  # in any cluster, each mode once
        estimator.train(train_spec.input_fn)
        return estimator.evaluate(eval_spec.input_fn, eval_spec.steps), []
    return executor.run()
