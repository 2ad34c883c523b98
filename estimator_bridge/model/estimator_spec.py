"""What a model_fn returns to an `Estimator`."""

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
    """The tensors and operations of a model in one mode: a tuple with names, checked.

    TRAIN needs `loss` and `train_op`, EVAL needs `loss`, PREDICT needs `predictions`. What a mode
    does not need may be given, and is not used.

    Args:
      mode: one of `ModeKeys`; None where model_fn takes no mode, and is filled in behind it.
      predictions: a tensor or a dict of tensors, batch first.
      loss: a tensor of one element; of shape [1], it becomes a scalar.
      train_op: the operation of one training step.
      eval_metric_ops: metrics by name: (value, update) pairs as ``tf.compat.v1.metrics`` makes
        them, or tf_keras metrics after ``update_state``.
      export_outputs: `ExportOutput` objects by signature name. A single one becomes the default
        signature too; without any, in PREDICT mode, the predictions do.
      training_chief_hooks: SessionRunHooks that the chief runs in training.
      training_hooks: those that every worker runs in training.
      scaffold: a ``tf.compat.v1.train.Scaffold`` with the model's own saver or init ops.
      evaluation_hooks: those that run in evaluation.
      prediction_hooks: those that run in prediction.

    Raises:
      ValueError: a field that the mode needs is missing, or a value is of the wrong shape or graph.
      TypeError: a field is of the wrong type.
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
        """Checks the arguments, which the class describes."""
        if mode is not None:  # a model_fn that does not take mode cannot tell it
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
        """Copies with some fields changed, and checked again; a name that is no field is a warning.

        Raises:
          ValueError: `mode` would change, or a value is not valid.
          TypeError: a value is of the wrong type.
        """
        mode = kwargs.get("mode", self.mode)
        if mode != self.mode:
            raise ValueError(
                f"mode of EstimatorSpec cannot be changed. Got {mode!r} for a spec of {self.mode!r}"
                ": a graph is built for one mode; call model_fn again with the other."
            )
        unknown = sorted(set(kwargs) - set(self._fields))
        if unknown:  # the original passed them over too, without a word
            logging.warning(
                "EstimatorSpec._replace got unexpected field names, which have no effect: %s. "
                "EstimatorSpec has %s.", unknown, list(self._fields)
            )  # fmt: skip
        known = {name: value for name, value in kwargs.items() if name in self._fields}
        return type(self)(**{**self._asdict(), **known})
