"""The parts of an Experiment: settings, checks and waits."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import newest_listed
from estimator_bridge.tensorflow_private.names import tf_logging
from estimator_bridge.training import Estimator
from estimator_bridge_contrib.learn.estimator import Evaluable, Trainable
from estimator_bridge_contrib.learn.exports import ExportStrategy

__all__ = [
    "Calls",
    "CheckpointListener",
    "Times",
    "as_strategies",
    "check_estimator",
    "checked_predicate",
    "wait",
]

_Listener: Any = tf.compat.v1.train.CheckpointSaverListener


@dataclass(frozen=True)
class Calls:
    """The arguments of training and evaluation; see `Experiment`."""

    train_input_fn: Callable[..., Any]
    eval_input_fn: Callable[..., Any]
    eval_metrics: Mapping[str, Any] | None
    train_steps: int | None
    eval_steps: int | None
    eval_hooks: list[Any]
    saving_listeners: Sequence[Any] | None


@dataclass(frozen=True)
class Times:
    """When training and evaluation take turns; see `Experiment`."""

    local_eval_frequency: int | None
    eval_delay_secs: float
    throttle_secs: float
    min_eval_frequency: int | None
    is_delayed_by_step: bool
    steps_per_iteration: int
    is_checkpoint_exported: bool
    check_interval_secs: float


class CheckpointListener(_Listener):
    """Evaluates and exports each new checkpoint.

    Args:
      evaluate: a function of a checkpoint that returns the metrics and the exports' folders.
      model_dir: the folder of the checkpoints.
    """

    def __init__(self, evaluate: Callable[[str], tuple[Any, list[Any]]], model_dir: str):
        self.results: tuple[Any, Any] = None, None
        self._evaluate, self._folder = evaluate, model_dir
        self._path: str | None = None

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Called after a checkpoint is saved."""
        del session, global_step_value
        path = newest_listed(self._folder)
        if path and path != self._path:
            self._path = path
            self.results = self._evaluate(path)


def check_estimator(estimator: Any, metrics: Any, listeners: Any) -> None:
    """Checks an estimator, and what is given only for one kind of it.

    Raises:
      ValueError: the estimator is not one, or the arguments do not fit it.
    """
    if isinstance(estimator, Estimator):
        if metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
            )
        return
    for kind in (Evaluable, Trainable):
        if not isinstance(estimator, kind):
            raise ValueError(
                f"`estimator` must implement `tf.contrib.learn.{kind.__name__}` or "
                f"`tf.estimator.Estimator`. Got {estimator!r}."
            )
    if listeners is not None:
        raise ValueError(
            "`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`. Use "
            "train_monitors."
        )


def as_strategies(values: Any) -> tuple[ExportStrategy, ...]:
    """Returns export strategies as a tuple.

    Raises:
      ValueError: a value is not one.
    """
    strategies = (values,) if isinstance(values, ExportStrategy) else tuple(values or ())
    for value in strategies:
        if not isinstance(value, ExportStrategy):
            raise ValueError(
                "`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or "
                f"`None`, found {value}."
            )
    return strategies


def checked_predicate(predicate: Any) -> Callable[[Any, str | None], bool]:
    """Returns a predicate of metrics and a checkpoint, for one that may take only metrics.

    Raises:
      ValueError: it is no function.
    """
    if predicate is None:
        return lambda metrics, path: True
    if not callable(predicate):
        raise ValueError(
            f"`continuous_eval_predicate_fn` must be a callable, or None. Got {predicate!r}."
        )
    if "checkpoint_path" in inspect.signature(predicate).parameters:
        return lambda metrics, path: predicate(metrics, checkpoint_path=path)
    return lambda metrics, path: predicate(metrics)


def wait(seconds: float, what: str) -> None:
    """Waits, and says for what."""
    if seconds > 0:
        tf_logging.info("Waiting %f secs before %s.", seconds, what)
        time.sleep(seconds)
