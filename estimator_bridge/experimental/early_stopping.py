"""Hooks that stop training based on evaluation results."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.experimental.stopping import CheckForStoppingHook, StopOnPredicateHook
from estimator_bridge.training import Estimator
from estimator_bridge.training.event_files import read_eval_metrics

__all__ = [
    "make_early_stopping_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

# Under these strategies, each worker decides the same at the same step.
_OF_SEVERAL_WORKERS = ("CollectiveAllReduceStrategy", "MultiWorkerMirroredStrategy")


class _NoEstimatorError(TypeError, AttributeError):
    """The argument is not an Estimator; the original's metric hooks raised AttributeError."""


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Makes a hook that stops training when a function returns True.

    In a cluster it stops the training processes. An evaluator process keeps waiting for a
    checkpoint of TrainSpec.max_steps; end it by other means.

    Args:
      estimator: the estimator to be trained.
      should_stop_fn: takes nothing, returns whether to stop. Called on the chief; under a
        MultiWorkerMirroredStrategy on each worker, all of which stop if one returns True.
      run_every_secs: seconds between calls.
      run_every_steps: steps between calls instead; set run_every_secs to None.

    Returns:
      The hook, for ``hooks`` of train or TrainSpec.

    Raises:
      TypeError: estimator is not an Estimator, or should_stop_fn is not callable.
      ValueError: both of run_every_secs and run_every_steps are set, or neither; or run_every_secs
        is set under a MultiWorkerMirroredStrategy.
    """
    if not isinstance(estimator, Estimator):
        raise _NoEstimatorError(
            "`estimator` must have type `tf.estimator.Estimator`. Got: "
            f"{type(estimator)}: {estimator!r}."
        )
    if run_every_secs is None and run_every_steps is None:
        raise ValueError(
            "Either every_secs or every_steps should be provided: run_every_secs and "
            "run_every_steps are both None, so the condition would never be checked. Set one."
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError(
            "Only one of `run_every_secs` and `run_every_steps` must be set, got "
            f"{run_every_secs} and {run_every_steps}. Set run_every_secs=None to count steps."
        )
    config = estimator.config
    if type(config.train_distribute).__name__.startswith(_OF_SEVERAL_WORKERS):
        if run_every_secs is not None:
            raise ValueError(
                "run_every_secs should not be set when using MultiWorkerMirroredStrategy, got "
                f"{run_every_secs}: workers count steps alike, but not seconds. Set "
                "run_every_secs=None and run_every_steps."
            )
        return StopOnPredicateHook(should_stop_fn, None, run_every_steps)
    if config.is_chief:
        return StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return CheckForStoppingHook()


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Makes a hook that stops training when a metric is higher than a threshold.

    Args:
      estimator: the estimator to be trained.
      metric_name: name of the metric, such as 'accuracy'.
      threshold: value above which training stops.
      eval_dir: the folder of the evaluation's event files; by default estimator.eval_dir().
      min_steps: evaluations at lower global steps are ignored.
      run_every_secs: see `make_early_stopping_hook`.
      run_every_steps: see `make_early_stopping_hook`.

    Returns:
      The hook.
    """
    stop = _crosses_threshold(estimator, metric_name, threshold, operator.gt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Makes a hook that stops training when a metric is lower than a threshold.

    Args:
      estimator: the estimator to be trained.
      metric_name: name of the metric, such as 'loss'.
      threshold: value below which training stops.
      eval_dir: the folder of the evaluation's event files; by default estimator.eval_dir().
      min_steps: evaluations at lower global steps are ignored.
      run_every_secs: see `make_early_stopping_hook`.
      run_every_steps: see `make_early_stopping_hook`.

    Returns:
      The hook.
    """
    stop = _crosses_threshold(estimator, metric_name, threshold, operator.lt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Makes a hook that stops training when a metric has not increased for some steps.

    Args:
      estimator: the estimator to be trained.
      metric_name: name of the metric, such as 'accuracy'.
      max_steps_without_increase: maximum number of training steps without an increase.
      eval_dir: the folder of the evaluation's event files; by default estimator.eval_dir().
      min_steps: evaluations at lower global steps are ignored.
      run_every_secs: see `make_early_stopping_hook`.
      run_every_steps: see `make_early_stopping_hook`.

    Returns:
      The hook.
    """
    limit = max_steps_without_increase
    stop = _stalls(estimator, metric_name, limit, operator.gt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """Makes a hook that stops training when a metric has not decreased for some steps.

    Args:
      estimator: the estimator to be trained.
      metric_name: name of the metric, such as 'loss'.
      max_steps_without_decrease: maximum number of training steps without a decrease.
      eval_dir: the folder of the evaluation's event files; by default estimator.eval_dir().
      min_steps: evaluations at lower global steps are ignored.
      run_every_secs: see `make_early_stopping_hook`.
      run_every_steps: see `make_early_stopping_hook`.

    Returns:
      The hook.
    """
    limit = max_steps_without_decrease
    stop = _stalls(estimator, metric_name, limit, operator.lt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def _crosses_threshold(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    is_beyond: Callable[[float, float], bool],
    eval_dir: str | None,
    min_steps: int,
) -> Callable[[], bool]:
    def should_stop() -> bool:
        for step, value in _history(estimator, metric_name, eval_dir, min_steps):
            if is_beyond(value, threshold):
                logging.info(
                    'At step %s, metric "%s" has value %s, beyond the threshold (%s) that was '
                    "configured for early stopping.",
                    step,
                    metric_name,
                    value,
                    threshold,
                )
                return True
        return False

    return should_stop


def _stalls(
    estimator: Estimator,
    metric_name: str,
    max_steps: int,
    is_better: Callable[[float, float], bool],
    eval_dir: str | None,
    min_steps: int,
) -> Callable[[], bool]:
    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _history(estimator, metric_name, eval_dir, min_steps):
            if best is None or is_better(value, best[1]):
                best = (step, value)
            if step - best[0] >= max_steps:
                logging.info(
                    'Metric "%s" is no better at step %s than at step %s: %s steps, and %s were '
                    "configured for early stopping.",
                    metric_name,
                    step,
                    best[0],
                    step - best[0],
                    max_steps,
                )
                return True
        return False

    return should_stop


def _history(
    estimator: Estimator, metric_name: str, eval_dir: str | None, min_steps: int
) -> list[tuple[int, float]]:
    """Returns a metric's values by global step.

    Raises:
      ValueError: there are evaluations, but none has a metric of that name.
    """
    folder = estimator.eval_dir() if eval_dir is None else os.fspath(eval_dir)
    evaluations = {s: m for s, m in read_eval_metrics(folder).items() if s >= min_steps}
    if evaluations and not any(metric_name in metrics for metrics in evaluations.values()):
        step, metrics = next(iter(evaluations.items()))
        raise ValueError(
            f"Early stopping looks for the metric {metric_name!r}, but the evaluation at global "
            f"step {step} in {folder} has {sorted(metrics)}. Use a metric_name from model_fn's "
            "eval_metric_ops."
        )
    return [(step, m[metric_name]) for step, m in evaluations.items() if metric_name in m]
