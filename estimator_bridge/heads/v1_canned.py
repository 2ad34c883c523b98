"""The heads of V1's canned estimators: those of tf.contrib.estimator, with summed losses.

Programs with their own model functions imported them from the canned estimators' module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.v1 import V1Head
from estimator_bridge.heads.v1_factories import (
    binary_classification_head,
    multi_class_head,
    regression_head,
)

__all__ = [
    "binary_or_multi_class_head_v1",
    "summed_binary_classification_head",
    "summed_multi_class_head",
    "summed_regression_head",
]

_SUM = tf.compat.v1.losses.Reduction.SUM


def summed_binary_classification_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for two classes; see `binary_classification_head`."""
    return binary_classification_head(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


def summed_multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _SUM,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for three or more classes; see `multi_class_head`."""
    return multi_class_head(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
    )


def summed_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _SUM,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
    name: str | None = None,
) -> V1Head:
    """Makes the V1 head for regression; see `regression_head`."""
    return regression_head(
        weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name
    )


def binary_or_multi_class_head_v1(
    n_classes: int,
    weight_column: Any,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> V1Head:
    """Makes the V1 head of a classifier.

    Args:
      n_classes: number of classes.
      weight_column: as in `BinaryClassHead`.
      label_vocabulary: as in `BinaryClassHead`.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``, except NONE.

    Returns:
      The head for two classes or for more.

    Raises:
      ValueError: an argument is not valid.
    """
    if n_classes == 2:
        return binary_classification_head(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
