"""The default heads of canned estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator_bridge.heads import (
    AnyV1Head,
    BinaryClassHead,
    Head,
    MultiClassHead,
    RegressionHead,
    binary_classification_head,
    multi_class_head,
)
from estimator_bridge.heads import regression_head as _regression_head_v1

__all__ = ["MEAN", "classifier_head", "classifier_head_v1", "regression_head", "regression_head_v1"]

MEAN = "sum_over_batch_size"  # tf.losses.Reduction's; tf.losses would load Keras


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Head:
    """A classifier's head of ``tf.estimator``: one logit for two classes, else one per class."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def classifier_head_v1(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> AnyV1Head:
    """A classifier's head of ``tf.compat.v1.estimator``."""
    if n_classes == 2:
        return binary_classification_head(weight_column, None, label_vocabulary, loss_reduction)
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)


def regression_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> Head:
    """A regressor's head of ``tf.estimator``: the squared error."""
    return RegressionHead(label_dimension, weight_column, loss_reduction)


def regression_head_v1(label_dimension: int, weight_column: Any, loss_reduction: str) -> AnyV1Head:
    """A regressor's head of ``tf.compat.v1.estimator``."""
    return _regression_head_v1(weight_column, label_dimension, loss_reduction)
