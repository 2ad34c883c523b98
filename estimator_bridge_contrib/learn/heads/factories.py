"""The functions of tf.contrib.learn that make heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.heads import head_losses
from estimator_bridge_contrib.learn.heads.base import HeadOptions
from estimator_bridge_contrib.learn.heads.binary import BinaryLogisticHead, BinarySvmHead
from estimator_bridge_contrib.learn.heads.multi_class import MultiClassHead, MultiLabelHead
from estimator_bridge_contrib.learn.heads.multi_objective import LossOnlyHead, MultiHead
from estimator_bridge_contrib.learn.heads.regression import RegressionHead

__all__ = [
    "binary_svm_head",
    "loss_only_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> RegressionHead:
    """Makes a head for linear regression, with the mean squared error.

    Args:
      label_name: the key of labels that are a dict.
      weight_column_name: the key of weights among the features.
      label_dimension: the number of labels of an example.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      head_name: the name of the head, the suffix of its metrics.
      link_fn: a function from logits to predictions; by default the identity.
    """
    options = HeadOptions(label_name, weight_column_name, enable_centered_bias, head_name)
    link_fn = tf.identity if link_fn is None else link_fn
    return RegressionHead(label_dimension, head_losses.mean_squared, link_fn, options)


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> RegressionHead:
    """Makes a head for counts, with the log loss of Poisson's distribution.

    Args:
      label_name: the key of labels that are a dict.
      weight_column_name: the key of weights among the features.
      label_dimension: the number of labels of an example.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      head_name: the name of the head, the suffix of its metrics.
    """
    options = HeadOptions(label_name, weight_column_name, enable_centered_bias, head_name)
    return RegressionHead(label_dimension, head_losses.poisson, tf.exp, options)


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> BinaryLogisticHead | MultiClassHead:
    """Makes a head for classes of which an example has one.

    Args:
      n_classes: the number of classes; 2 gives logistic regression.
      label_name: the key of labels that are a dict.
      weight_column_name: the key of weights among the features.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      head_name: the name of the head, the suffix of its metrics.
      thresholds: for 2 classes, probabilities from which the second is predicted, for metrics.
      metric_class_ids: for more classes, those with metrics of their own.
      loss_fn: a function of labels, logits and weights that returns the loss.
      label_keys: for more classes, their names, if labels are strings.

    Raises:
      ValueError: n_classes is below 2, or does not fit the other arguments.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    loss = head_losses.checked_loss_fn(loss_fn)
    options = HeadOptions(label_name, weight_column_name, enable_centered_bias, head_name)
    if n_classes > 2:
        return MultiClassHead(n_classes, metric_class_ids, label_keys, loss, options)
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2. Leave it out.")
    if label_keys:
        raise ValueError(
            "label_keys is not supported for n_classes=2. Return labels 0 and 1 from input_fn."
        )
    return BinaryLogisticHead(thresholds, loss, options)


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> BinarySvmHead:
    """Makes a head for two classes, with the hinge loss.

    Args:
      label_name: the key of labels that are a dict.
      weight_column_name: the key of weights among the features.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      head_name: the name of the head, the suffix of its metrics.
      thresholds: has no effect.
    """
    del thresholds
    options = HeadOptions(label_name, weight_column_name, enable_centered_bias, head_name)
    return BinarySvmHead(options)


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> MultiLabelHead:
    """Makes a head for classes of which an example has any number.

    Args:
      n_classes: the number of classes.
      label_name: the key of labels that are a dict.
      weight_column_name: the key of weights among the features.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      head_name: the name of the head, the suffix of its metrics.
      thresholds: has no effect.
      metric_class_ids: classes with metrics of their own.
      loss_fn: a function of labels, logits and weights that returns the loss.

    Raises:
      ValueError: n_classes is below 2, or an argument does not fit it.
    """
    del thresholds
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification. Got {n_classes}.")
    options = HeadOptions(label_name, weight_column_name, enable_centered_bias, head_name)
    loss = head_losses.checked_loss_fn(loss_fn)
    return MultiLabelHead(n_classes, metric_class_ids, loss, options)


def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> LossOnlyHead:
    """Makes a head that is a loss only, such as regularization, for `multi_head`.

    Args:
      loss_fn: a function without arguments that returns a scalar, or a list of scalars.
      head_name: the name of the head.
    """
    return LossOnlyHead(loss_fn, head_name)


def multi_head(heads: Sequence[Any], loss_weights: Sequence[float] | None = None) -> MultiHead:
    """Makes a head of several heads, whose losses are added up.

    Args:
      heads: the heads; each has a name.
      loss_weights: the factor of each head's loss; 1 by default.

    Raises:
      ValueError: the lengths differ, or a head has no name.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError(
            f"heads and loss_weights must have same size. Got {len(heads)} and {len(loss_weights)}."
        )
    return MultiHead(heads, loss_weights)
