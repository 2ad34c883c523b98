"""The result of a model_fn for a `TPUEstimator`."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.model.estimator_spec import EstimatorSpec
from estimator_bridge.model.export_outputs import ExportOutput, complete_export_outputs
from estimator_bridge.model.host_calls import HostCallHook, call_host_fn, check_host_call
from estimator_bridge.model.modes import ModeKeys, check_mode
from estimator_bridge.model.spec_checks import (
    check_hooks,
    check_loss,
    check_predictions,
    check_train_op,
)

__all__ = ["TPUEstimatorSpec"]

_Fields = collections.namedtuple(
    "_Fields",
    [
        "mode",
        "predictions",
        "loss",
        "train_op",
        "eval_metrics",
        "export_outputs",
        "scaffold_fn",
        "host_call",
        "training_hooks",
        "evaluation_hooks",
        "prediction_hooks",
    ],
)


class TPUEstimatorSpec(_Fields):
    """The tensors and operations of one replica of a model in one mode: a named tuple.

    TRAIN needs `loss` and `train_op`, EVAL needs `loss`, PREDICT needs `predictions`.

    Args:
      mode: one of `ModeKeys`; None if model_fn takes no mode, and filled in afterwards.
      predictions: a dict of tensors, the replica's batch first.
      loss: a tensor of one element, the replica's own loss.
      train_op: the operation of one training step, from a `CrossShardOptimizer`.
      eval_metrics: (metric_fn, tensors). The tensors, each with the replica's batch first, are
        gathered from all replicas; metric_fn gets them for the global batch, a list by position or
        a dict by name, and returns metrics as for ``EstimatorSpec.eval_metric_ops``.
      export_outputs: as in `EstimatorSpec`.
      scaffold_fn: returns the Scaffold; it must not use tensors of the replica.
      host_call: (function, tensors), gathered in the same way, in every mode. The
        function returns operations to run with each step, such as summaries.
      training_hooks: SessionRunHooks for training.
      evaluation_hooks: SessionRunHooks for evaluation, called once for all its steps.
      prediction_hooks: SessionRunHooks for prediction.

    Raises:
      ValueError: a required field is missing, or a value has the wrong shape or graph.
      TypeError: a field has the wrong type.
      RuntimeError: a function does not take as many tensors as are given.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str | None,
        predictions: tf.Tensor | Mapping[str, tf.Tensor] | None = None,
        loss: tf.Tensor | None = None,
        train_op: tf.Operation | tf.Tensor | None = None,
        eval_metrics: tuple[Callable[..., Any], Any] | None = None,
        export_outputs: Mapping[str, ExportOutput] | None = None,
        scaffold_fn: Callable[[], tf.compat.v1.train.Scaffold] | None = None,
        host_call: tuple[Callable[..., Any], Any] | None = None,
        training_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
        evaluation_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
        prediction_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
    ) -> TPUEstimatorSpec:
        """Checks the arguments; see the class."""
        if mode is not None:  # a model_fn that does not take mode leaves it out
            check_mode(mode, cls.__name__)
        eval_metrics = check_host_call("eval_metrics", eval_metrics)
        host_call = check_host_call("host_call", host_call)
        if scaffold_fn is not None and not callable(scaffold_fn):
            raise TypeError(
                "scaffold_fn must be a function without arguments that returns a "
                f"tf.train.Scaffold, given: {scaffold_fn!r}."
            )
        train_op = check_train_op(train_op, mode)
        loss = check_loss(loss, mode)
        predictions = check_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = complete_export_outputs(export_outputs, predictions)
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            check_hooks("training_hooks", training_hooks),
            check_hooks("evaluation_hooks", evaluation_hooks),
            check_hooks("prediction_hooks", prediction_hooks),
        )

    def _replace(self, **kwargs: Any) -> TPUEstimatorSpec:
        """Copies the spec with some fields changed, and checks it.

        Raises:
          ValueError: a name is not a field, or a value is not valid.
          TypeError: a value has the wrong type.
        """
        unknown = sorted(set(kwargs) - set(self._fields))
        if unknown:
            raise ValueError(
                f"Got unexpected field names: {unknown}. TPUEstimatorSpec has {list(self._fields)}."
            )
        return type(self)(**{**self._asdict(), **kwargs})

    def as_estimator_spec(self) -> EstimatorSpec:
        """Converts to the spec of a model with one replica, which needs no gathering.

        Calls metric_fn, the host_call's function and scaffold_fn in the default graph.

        Returns:
          The spec; the host_call's results run with each step, as a last hook.

        Raises:
          TypeError: the host_call's function returned None, or a result has the wrong type.
          ValueError: a result is not valid in an `EstimatorSpec`.
        """
        metrics = call_host_fn(*self.eval_metrics) if self.eval_metrics else None
        hooks = (HostCallHook(call_host_fn(*self.host_call)),) if self.host_call else ()
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            training_hooks=self.training_hooks + hooks,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )
