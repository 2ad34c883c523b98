"""The heads of tf.contrib.estimator, which the V1 canned estimators use too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.arguments import check_reduction
from estimator_bridge.heads.keys import PredictionKeys
from estimator_bridge.heads.multi_label import MultiLabelHead
from estimator_bridge.heads.regression import PoissonRegressionHead
from estimator_bridge.heads.v1 import AnyV1Head, V1Head
from estimator_bridge.heads.v1_multi import V1MultiHead
from estimator_bridge.heads.v1_numbers import V1LogisticRegressionHead
from estimator_bridge.heads.v1_single import V1BinaryHead, V1MultiClassHead, V1RegressionHead

__all__ = [
    "binary_classification_head",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]

_Reduction = tf.compat.v1.losses.Reduction
_MEAN = _Reduction.SUM_OVER_BATCH_SIZE


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for two classes.

    Args:
      weight_column: as in `BinaryClassHead`.
      thresholds: as in `BinaryClassHead`.
      label_vocabulary: as in `BinaryClassHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      loss_fn: as in `BinaryClassHead`.
      name: as in `BinaryClassHead`.

    Returns:
      The head.

    Raises:
      ValueError: an argument is not valid.
    """
    return V1BinaryHead(
        weight_column, thresholds, label_vocabulary, _reduction(loss_reduction), loss_fn, name
    )


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for three or more classes.

    Args:
      n_classes: number of classes, at least 3.
      weight_column: as in `MultiClassHead`.
      label_vocabulary: as in `MultiClassHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      loss_fn: as in `MultiClassHead`.
      name: as in `MultiClassHead`.

    Returns:
      The head.

    Raises:
      ValueError: an argument is not valid.
    """
    return V1MultiClassHead(
        n_classes, weight_column, label_vocabulary, _reduction(loss_reduction), loss_fn, name
    )


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for any number of classes per example.

    Args:
      n_classes: number of classes, at least 2.
      weight_column: as in `MultiLabelHead`.
      thresholds: as in `MultiLabelHead`.
      label_vocabulary: as in `MultiLabelHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      loss_fn: as in `MultiLabelHead`.
      classes_for_class_based_metrics: as in `MultiLabelHead`.
      name: as in `MultiLabelHead`.

    Returns:
      The head.

    Raises:
      ValueError: an argument is not valid.
    """
    # TF1's words for these two.
    if n_classes is None or n_classes < 2:
        raise ValueError(
            f"n_classes must be > 1 for multi-class classification. Given: {n_classes}. For a "
            "single class, use binary_classification_head."
        )
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError(
            f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}. The "
            "position of a label in it is the number of its class."
        )
    head = MultiLabelHead(
        n_classes,
        weight_column,
        thresholds,
        label_vocabulary,
        loss_fn=loss_fn,
        classes_for_class_based_metrics=classes_for_class_based_metrics,
        name=name,
    )
    return V1Head(head, loss_reduction, [PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES])


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for regression.

    Args:
      weight_column: as in `RegressionHead`.
      label_dimension: as in `RegressionHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      loss_fn: as in `RegressionHead`.
      inverse_link_fn: as in `RegressionHead`.
      name: as in `RegressionHead`.

    Returns:
      The head.

    Raises:
      ValueError: an argument is not valid.
    """
    return V1RegressionHead(
        label_dimension, weight_column, _reduction(loss_reduction), loss_fn, inverse_link_fn, name
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for counts.

    Args:
      weight_column: as in `PoissonRegressionHead`.
      label_dimension: as in `PoissonRegressionHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      compute_full_loss: as in `PoissonRegressionHead`.
      name: as in `PoissonRegressionHead`.

    Returns:
      The head.

    Raises:
      ValueError: an argument is not valid.
    """
    head = PoissonRegressionHead(
        label_dimension, weight_column, compute_full_loss=compute_full_loss, name=name
    )
    return V1Head(head, loss_reduction)


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> V1Head:
    """Makes the V1 head for numbers between 0 and 1.

    Args:
      weight_column: as in `LogisticRegressionHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.
      name: as in `LogisticRegressionHead`.

    Returns:
      The head.

    Raises:
      ValueError: an argument is not valid.
    """
    return V1Head(V1LogisticRegressionHead(weight_column, name=name), loss_reduction)


def multi_head(
    heads: Sequence[AnyV1Head], head_weights: Sequence[float] | None = None
) -> V1MultiHead:
    """Makes the V1 head for several objectives.

    Args:
      heads: V1 heads, each with a name; the first is served by default.
      head_weights: factors of the heads' losses in the sum.

    Returns:
      The head.

    Raises:
      ValueError: there are no heads, one has no name, or the number of weights differs.
    """
    return V1MultiHead(heads, head_weights)


def _reduction(loss_reduction: str) -> str:
    return check_reduction(loss_reduction, set(_Reduction.all()) - {_Reduction.NONE})
