"""V1's single-objective heads as classes, from which libraries derive their own.

As in the original, a subclass can read the arguments from attributes such as ``_n_classes`` and
``_label_vocabulary``, and override `_eval_metric_ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.binary_class import BinaryClassHead
from estimator_bridge.heads.head_metrics import v1_metric
from estimator_bridge.heads.keys import PredictionKeys
from estimator_bridge.heads.multi_class import MultiClassHead
from estimator_bridge.heads.regression import RegressionHead
from estimator_bridge.heads.single_objective import REGULARIZATION, Batch
from estimator_bridge.heads.v1 import V1Head

__all__ = ["V1BinaryHead", "V1MultiClassHead", "V1RegressionHead"]

_SUM = tf.compat.v1.losses.Reduction.SUM
_Metrics = dict[str, tuple[Any, Any]]


class _SingleV1Head(V1Head):
    """The common base: it computes metrics by a method that subclasses may override."""

    # A subclass may reduce the losses of a batch itself; the factories refuse NONE.
    may_keep_losses = True

    def _eval_metrics(
        self, batch: Batch, regularization: tf.Tensor | None
    ) -> tuple[Callable[..., _Metrics], dict[str, tf.Tensor]]:
        arguments = self._metric_arguments(batch)
        arguments.update(weights=batch.weights, regularization_loss=regularization)
        tensors = {name: value for name, value in arguments.items() if value is not None}

        def metric_fn(**rows: tf.Tensor) -> _Metrics:
            return self._eval_metric_ops(**{**arguments, **rows})

        return metric_fn, tensors

    def _metric_arguments(self, batch: Batch) -> dict[str, Any]:
        """The arguments of `_eval_metric_ops`, except weights and regularization_loss."""
        raise NotImplementedError

    def _eval_metric_ops(self, **tensors: Any) -> _Metrics:
        raise NotImplementedError

    def _measure(
        self, tensors: Mapping[str, Any], weights: Any, regularization_loss: Any
    ) -> _Metrics:
        measures = self.head.measures()
        if regularization_loss is not None:
            measures = [*measures, REGULARIZATION]
            tensors = {**tensors, "regularization": regularization_loss}
        if weights is not None:
            weights = tf.convert_to_tensor(weights)
        with tf.name_scope("metrics"):
            return {self._key(m.name): v1_metric(m, tensors, weights) for m in measures}


class V1BinaryHead(_SingleV1Head):
    """The V1 head of two classes.

    Args:
      weight_column: as in `BinaryClassHead`.
      thresholds: as in `BinaryClassHead`.
      label_vocabulary: as in `BinaryClassHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``.
      loss_fn: as in `BinaryClassHead`.
      name: as in `BinaryClassHead`.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _SUM,
        loss_fn: Callable[..., tf.Tensor] | None = None,
        name: str | None = None,
    ):
        self._thresholds = tuple(thresholds or ())
        head = BinaryClassHead(
            weight_column, self._thresholds, label_vocabulary, loss_fn=loss_fn, name=name
        )
        super().__init__(head, loss_reduction)
        self._weight_column, self._label_vocabulary = weight_column, label_vocabulary
        self._loss_fn, self._name = loss_fn, name

    def _metric_arguments(self, batch: Batch) -> dict[str, Any]:
        tensors = self.head.observed(batch)
        return {
            "labels": tensors["labels"],
            "logits": batch.logits,
            "logistic": tensors["logistic"],
            "class_ids": tensors["class_ids"],
            "unreduced_loss": tensors["losses"],
        }

    def _eval_metric_ops(  # type: ignore[override]
        self,
        labels: Any,
        logits: Any,
        logistic: Any,
        class_ids: Any,
        weights: Any,
        unreduced_loss: Any,
        regularization_loss: Any,
    ) -> _Metrics:
        """A batch's metrics by name, as pairs of a value and its update operation."""
        del logits
        tensors = {
            "losses": unreduced_loss,
            "labels": labels,
            "logistic": logistic,
            "class_ids": class_ids,
        }
        return self._measure(tensors, weights, regularization_loss)


class V1MultiClassHead(_SingleV1Head):
    """The V1 head of three or more classes.

    Args:
      n_classes: the number of classes, at least 3.
      weight_column: as in `MultiClassHead`.
      label_vocabulary: as in `MultiClassHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``.
      loss_fn: as in `MultiClassHead`.
      name: as in `MultiClassHead`.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _SUM,
        loss_fn: Callable[..., tf.Tensor] | None = None,
        name: str | None = None,
    ):
        head = MultiClassHead(
            n_classes, weight_column, label_vocabulary, loss_fn=loss_fn, name=name
        )
        super().__init__(head, loss_reduction)
        self._n_classes = n_classes
        self._weight_column, self._label_vocabulary = weight_column, label_vocabulary
        self._loss_fn, self._name = loss_fn, name

    def _metric_arguments(self, batch: Batch) -> dict[str, Any]:
        tensors = self.head.observed(batch)
        return {
            "labels": tensors["labels"],
            "class_ids": tensors["class_ids"],
            "unreduced_loss": tensors["losses"],
        }

    def _eval_metric_ops(  # type: ignore[override]
        self,
        labels: Any,
        class_ids: Any,
        weights: Any,
        unreduced_loss: Any,
        regularization_loss: Any,
    ) -> _Metrics:
        """A batch's metrics by name, as pairs of a value and its update operation."""
        tensors = {"losses": unreduced_loss, "labels": labels, "class_ids": class_ids}
        return self._measure(tensors, weights, regularization_loss)


class V1RegressionHead(_SingleV1Head):
    """The V1 head of a regression.

    Args:
      label_dimension: as in `RegressionHead`.
      weight_column: as in `RegressionHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``.
      loss_fn: as in `RegressionHead`.
      inverse_link_fn: as in `RegressionHead`.
      name: as in `RegressionHead`.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        label_dimension: int,
        weight_column: Any = None,
        loss_reduction: str = _SUM,
        loss_fn: Callable[..., tf.Tensor] | None = None,
        inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
        name: str | None = None,
    ):
        head = RegressionHead(
            label_dimension,
            weight_column,
            loss_fn=loss_fn,
            inverse_link_fn=inverse_link_fn,
            name=name,
        )
        super().__init__(head, loss_reduction)
        self._logits_dimension, self._weight_column = label_dimension, weight_column
        self._loss_fn, self._inverse_link_fn, self._name = loss_fn, inverse_link_fn, name

    def _metric_arguments(self, batch: Batch) -> dict[str, Any]:
        tensors = self.head.observed(batch)
        return {
            "predicted_value": tensors[PredictionKeys.PREDICTIONS],
            "labels": tensors["labels"],
            "unreduced_loss": tensors["losses"],
        }

    def _eval_metric_ops(  # type: ignore[override]
        self,
        predicted_value: Any,
        labels: Any,
        weights: Any,
        unreduced_loss: Any,
        regularization_loss: Any,
    ) -> _Metrics:
        """A batch's metrics by name, as pairs of a value and its update operation."""
        tensors = {"losses": unreduced_loss, "labels": labels, "predictions": predicted_value}
        return self._measure(tensors, weights, regularization_loss)
