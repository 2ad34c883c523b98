"""The result of a model_fn for an `Estimator`."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.model.export_outputs import ExportOutput, complete_export_outputs
from estimator_bridge.model.metric_checks import check_eval_metric_ops
from estimator_bridge.model.modes import ModeKeys, check_mode
from estimator_bridge.model.spec_checks import (
    check_hooks,
    check_loss,
    check_predictions,
    check_scaffold,
    check_train_op,
)

__all__ = ["EstimatorSpec"]

_Fields = collections.namedtuple(
    "_Fields",
    [
        "mode",
        "predictions",
        "loss",
        "train_op",
        "eval_metric_ops",
        "export_outputs",
        "training_chief_hooks",
        "training_hooks",
        "scaffold",
        "evaluation_hooks",
        "prediction_hooks",
    ],
)


class EstimatorSpec(_Fields):
    """The tensors and operations of a model in one mode: a checked named tuple.

    TRAIN needs `loss` and `train_op`, EVAL needs `loss`, PREDICT needs `predictions`. Fields that a
    mode does not need are allowed and ignored.

    Args:
      mode: one of `ModeKeys`; None if model_fn takes no mode, and filled in afterwards.
      predictions: a tensor or a dict of tensors, batch first.
      loss: a tensor of one element; shape [1] becomes a scalar.
      train_op: the operation of one training step.
      eval_metric_ops: metrics by name: (value, update) pairs as ``tf.compat.v1.metrics`` makes
        them, or tf_keras metrics after ``update_state``.
      export_outputs: `ExportOutput` objects by signature name. A single one also becomes the
        default signature; without any, in PREDICT mode, the predictions do.
      training_chief_hooks: SessionRunHooks for the chief in training.
      training_hooks: SessionRunHooks for every worker in training.
      scaffold: a ``tf.compat.v1.train.Scaffold`` with the model's own saver or init ops.
      evaluation_hooks: SessionRunHooks for evaluation.
      prediction_hooks: SessionRunHooks for prediction.

    Raises:
      ValueError: a required field is missing, or a value has the wrong shape or graph.
      TypeError: a field has the wrong type.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str | None,
        predictions: tf.Tensor | Mapping[str, tf.Tensor] | None = None,
        loss: tf.Tensor | None = None,
        train_op: tf.Operation | tf.Tensor | None = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, ExportOutput] | None = None,
        training_chief_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
        training_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
        scaffold: tf.compat.v1.train.Scaffold | None = None,
        evaluation_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
        prediction_hooks: Iterable[tf.compat.v1.train.SessionRunHook] | None = None,
    ) -> EstimatorSpec:
        """Checks the arguments; see the class."""
        if mode is not None:  # a model_fn that does not take mode leaves it out
            check_mode(mode, cls.__name__)
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
            check_eval_metric_ops(eval_metric_ops),
            export_outputs,
            check_hooks("training_chief_hooks", training_chief_hooks),
            check_hooks("training_hooks", training_hooks),
            check_scaffold(scaffold),
            check_hooks("evaluation_hooks", evaluation_hooks),
            check_hooks("prediction_hooks", prediction_hooks),
        )

    def _replace(self, **kwargs: Any) -> EstimatorSpec:
        """Copies the spec with some fields changed and checks it; unknown names cause a warning.

        Raises:
          ValueError: `mode` would change, or a value is not valid.
          TypeError: a value has the wrong type.
        """
        mode = kwargs.get("mode", self.mode)
        if mode != self.mode:
            raise ValueError(
                f"mode of EstimatorSpec cannot be changed. Got {mode!r} for a spec of {self.mode!r}"
                ": a graph is built for one mode; call model_fn again with the other."
            )
        unknown = sorted(set(kwargs) - set(self._fields))
        if unknown:  # the original ignored them silently
            logging.warning(
                "EstimatorSpec._replace got unexpected field names, which have no effect: %s. "
                "EstimatorSpec has %s.", unknown, list(self._fields)
            )  # fmt: skip
        changes = {name: value for name, value in kwargs.items() if name in self._fields}
        return type(self)(**{**self._asdict(), **changes})
