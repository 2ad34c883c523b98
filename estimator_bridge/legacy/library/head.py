"""Functions of ``canned.head`` and ``head.base_head``, from which libraries build heads.

The two modules had nearly the same functions, V1's with a leading underscore. Functions with the
same arguments serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.heads import classifier_head
from estimator_bridge.heads.arguments import check_loss_fn, check_n_classes
from estimator_bridge.heads.head_train_op import keras_train_op, write_summaries
from estimator_bridge.heads.keys import MetricKeys
from estimator_bridge.heads.labels import all_class_ids as _all_class_ids
from estimator_bridge.heads.labels import all_classes as _all_classes
from estimator_bridge.heads.labels import check_range
from estimator_bridge.heads.losses import call_loss_fn as _call_loss_fn
from estimator_bridge.heads.losses import total_regularization
from estimator_bridge.heads.shapes import check_labels, check_logits
from estimator_bridge.heads.weights import broadcast, example_weights
from estimator_bridge.model import ClassificationOutput

__all__ = [
    "accuracy_at_threshold",
    "accuracy_baseline",
    "all_class_ids",
    "all_classes",
    "append_update_ops",
    "auc",
    "binary_or_multi_class_head",
    "call_loss_fn",
    "check_dense_labels_match_logits_and_reshape",
    "check_label_range",
    "check_logits_final_dim",
    "classification_output",
    "create_estimator_spec_summary",
    "create_estimator_spec_train_op",
    "create_eval_metrics_tuple",
    "get_weights_and_check_match_logits",
    "indicator_labels_mean",
    "precision_at_threshold",
    "predictions_mean",
    "recall_at_threshold",
    "summary_key",
    "update_metric_with_broadcast_weights",
    "validate_loss_fn_args",
    "validate_n_classes",
]

_v1 = tf.compat.v1


def summary_key(head_name: str | None, val: str) -> str:
    """Returns a metric's name, with the head's name appended if it has one."""
    return f"{val}/{head_name}" if head_name else val


def create_eval_metrics_tuple(
    fn: Callable[..., Any], kwargs: Mapping[str, Any]
) -> tuple[Callable[..., Any], dict[str, tf.Tensor]]:
    """Makes ``eval_metrics`` from a function with some non-tensor arguments.

    Args:
      fn: a function that returns metrics by name.
      kwargs: its arguments.

    Returns:
      A function of the tensor arguments, and these tensors by name.
    """
    tensors = {name: value for name, value in kwargs.items() if tf.is_tensor(value)}
    others = {name: value for name, value in kwargs.items() if name not in tensors}
    return (lambda **arguments: fn(**others, **arguments)), tensors


def check_dense_labels_match_logits_and_reshape(
    labels: Any, logits: tf.Tensor, expected_labels_dimension: int
) -> tf.Tensor:
    """Checks labels against logits, and adds a missing last dimension; see `check_labels`."""
    return check_labels(labels, logits, expected_labels_dimension)


def get_weights_and_check_match_logits(
    features: Mapping[str, Any] | None,
    weight_column: Any,
    logits: tf.Tensor,
    allow_per_logit_weights: bool = False,
) -> Any:
    """Returns the examples' weights after checking them; 1.0 without a weight_column."""
    weights = example_weights(features, weight_column, logits, allow_per_logit_weights)
    return 1.0 if weights is None else weights


def check_logits_final_dim(logits: Any, expected_logits_dimension: int) -> tf.Tensor:
    """Checks logits and returns them as floats; see `check_logits`."""
    return check_logits(logits, expected_logits_dimension)


def validate_loss_fn_args(loss_fn: Callable[..., Any]) -> None:
    """Checks that a loss function takes labels, logits and only other arguments that heads pass.

    Raises:
      ValueError: the function lacks an argument, or takes an unknown one.
    """
    check_loss_fn(loss_fn)


def validate_n_classes(n_classes: Any) -> Any:
    """Returns the number of classes.

    Raises:
      ValueError: the number is less than 3.
    """
    return check_n_classes(n_classes)


def call_loss_fn(
    loss_fn: Callable[..., tf.Tensor],
    labels: tf.Tensor,
    logits: tf.Tensor,
    features: Mapping[str, Any] | None,
    expected_loss_dim: int = 1,
) -> tf.Tensor:
    """Calls a user's loss function and checks the shape of the result."""
    return _call_loss_fn(loss_fn, labels, logits, features, expected_loss_dim)


def all_class_ids(logits: tf.Tensor, n_classes: int) -> tf.Tensor:
    """Returns the IDs of all classes for each example, [batch, n_classes]."""
    return _all_class_ids(logits, n_classes)


def all_classes(
    logits: tf.Tensor, n_classes: int, label_vocabulary: Sequence[str] | None = None
) -> tf.Tensor:
    """Returns the names, or else the IDs, of all classes for each example, [batch, n_classes]."""
    return _all_classes(logits, n_classes, label_vocabulary)


def classification_output(
    scores: tf.Tensor, n_classes: int, label_vocabulary: Sequence[str] | None = None
) -> ClassificationOutput:
    """Returns the "classification" signature of scores, [batch, n_classes]."""
    names = _all_classes(scores, n_classes, label_vocabulary)
    return ClassificationOutput(scores=scores, classes=names)


def check_label_range(labels: Any, n_classes: int, message: str | None = None) -> tf.Tensor:
    """Checks that labels are valid class IDs, and returns them."""
    return check_range(labels, n_classes, message)


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Any:
    """A classifier's V2 head: binary for two classes, multi-class for more."""
    return classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)


def append_update_ops(train_op: tf.Operation) -> tf.Operation:
    """Groups a training operation with those in the collection UPDATE_OPS."""
    updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS)
    return tf.group(train_op, *updates) if updates else train_op


def update_metric_with_broadcast_weights(eval_metric: Any, values: Any, weights: Any) -> None:
    """Adds values to a mean, each with its example's weight."""
    values = tf.cast(values, tf.float32)
    eval_metric.update_state(values=values, sample_weight=_broadcast(weights, values))


def create_estimator_spec_train_op(
    head_name: str | None,
    optimizer: Any = None,
    trainable_variables: Sequence[Any] | None = None,
    train_op_fn: Callable[[tf.Tensor], Any] | None = None,
    update_ops: Sequence[Any] | None = None,
    regularized_training_loss: Any = None,
    loss_reduction: str = "sum_over_batch_size",
) -> Any:
    """Returns the training operation of a V2 head; see `keras_train_op`. Ignores head_name."""
    del head_name
    return keras_train_op(
        regularized_training_loss, loss_reduction, optimizer, trainable_variables, train_op_fn,
        update_ops,
    )  # fmt: skip


def create_estimator_spec_summary(
    regularized_training_loss: tf.Tensor,
    regularization_losses: Sequence[tf.Tensor] | None = None,
    summary_key_fn: Callable[[str], str] | None = None,
) -> None:
    """Writes the summaries of a loss and its regularization."""
    key = summary_key_fn or (lambda name: name)
    losses = {
        key(MetricKeys.LOSS): regularized_training_loss,
        key(MetricKeys.LOSS_REGULARIZATION): total_regularization(regularization_losses),
    }
    write_summaries(losses)


def indicator_labels_mean(labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """Returns the mean of 0/1 labels, as a metric."""
    with tf.name_scope(name or "labels_mean") as scope:
        labels = tf.cast(labels, tf.float32)
        return _v1.metrics.mean(labels, _broadcast(weights, labels), name=scope)


def predictions_mean(predictions: Any, weights: Any = None, name: str | None = None) -> Any:
    """Returns the mean of predictions, as a metric."""
    with tf.name_scope(name or "predictions_mean") as scope:
        predictions = tf.cast(predictions, tf.float32)
        return _v1.metrics.mean(predictions, _broadcast(weights, predictions), name=scope)


def accuracy_baseline(labels_mean: tuple[Any, Any]) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the accuracy of predicting the majority class, from `indicator_labels_mean`."""
    with tf.name_scope("accuracy_baseline"):
        value, update = labels_mean
        return (
            tf.maximum(value, 1.0 - value, name="value"),
            tf.maximum(update, 1.0 - update, name="update_op"),
        )


def auc(
    labels: Any, predictions: Any, weights: Any = None, curve: str = "ROC", name: str | None = None
) -> Any:
    """Returns the area under a curve, as a metric."""
    with tf.name_scope(name or "auc") as scope:
        predictions = tf.cast(predictions, tf.float32)
        broadcast_weights = _broadcast(weights, predictions)
        return _v1.metrics.auc(labels, predictions, broadcast_weights, curve=curve, name=scope)


def accuracy_at_threshold(
    labels: Any, predictions: Any, weights: Any, threshold: float, name: str | None = None
) -> Any:
    """Returns the accuracy as a metric; predictions at or above the threshold count as 1."""
    with tf.name_scope(name or f"accuracy_at_{threshold}") as scope:
        ones = tf.cast(predictions >= threshold, tf.float32)
        return _v1.metrics.accuracy(labels, ones, weights, name=scope)


def precision_at_threshold(
    labels: Any, predictions: Any, weights: Any, threshold: float, name: str | None = None
) -> Any:
    """Returns the precision of predictions above the threshold, as a metric."""
    metric = _v1.metrics.precision_at_thresholds
    return _at_threshold(metric, "precision", labels, predictions, weights, threshold, name)


def recall_at_threshold(
    labels: Any, predictions: Any, weights: Any, threshold: float, name: str | None = None
) -> Any:
    """Returns the recall of predictions above the threshold, as a metric."""
    metric = _v1.metrics.recall_at_thresholds
    return _at_threshold(metric, "recall", labels, predictions, weights, threshold, name)


def _at_threshold(
    metric: Callable[..., tuple[Any, Any]],
    kind: str,
    labels: Any,
    predictions: Any,
    weights: Any,
    threshold: float,
    name: str | None,
) -> tuple[tf.Tensor, tf.Tensor]:
    with tf.name_scope(name or f"{kind}_at_{threshold}") as scope:
        value, update = metric(labels, predictions, (threshold,), weights, name=scope)
        return tf.squeeze(value), tf.squeeze(update)


def _broadcast(weights: Any, values: tf.Tensor) -> tf.Tensor | None:
    return broadcast(None if weights is None else tf.convert_to_tensor(weights), values)
