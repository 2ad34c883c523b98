"""Losses of predictions and labels, in this order; each is added to LOSSES."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.losses.weighting import add_loss, compute_weighted_loss

__all__ = [
    "absolute_difference",
    "cosine_distance",
    "hinge_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]

_v1 = tf.compat.v1


def _pair(predictions: Any, labels: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns both as floats, after checking that their shapes agree."""
    predictions = tf.cast(predictions, tf.float32)
    labels = tf.cast(labels, tf.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels


@add_arg_scope
def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> tf.Tensor:
    """Returns the mean of |predictions - labels|; see ``compute_weighted_loss`` for weights."""
    with _v1.name_scope(scope, "absolute_difference") as inner:
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(tf.abs(predictions - labels), weights, inner)


@add_arg_scope
def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> tf.Tensor:
    """Returns the mean squared difference; see ``compute_weighted_loss`` for weights."""
    with _v1.name_scope(scope, "mean_squared_error") as inner:
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(tf.square(predictions - labels), weights, inner)


@add_arg_scope
def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the mean cross entropy of binary probabilities.

    Args:
      predictions: from 0 to 1.
      labels: 0 or 1.
      weights: as for ``compute_weighted_loss``.
      epsilon: added to probabilities, so that their logarithm is finite.
      scope: a name scope.

    Returns:
      A scalar.
    """
    with _v1.name_scope(scope, "log_loss") as inner:
        p, labels = _pair(predictions, labels)
        yes, no = tf.math.log(p + epsilon), tf.math.log(1 - p + epsilon)
        return compute_weighted_loss(-labels * yes - (1 - labels) * no, weights, inner)


@add_arg_scope
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the mean cross entropy of binary logits.

    Args:
      logits: [batch, classes].
      multi_class_labels: [batch, classes], 0 or 1.
      weights: as for ``compute_weighted_loss``.
      label_smoothing: moves labels towards 1/2: ``labels * (1 - s) + s / 2``.
      scope: a name scope.

    Returns:
      A scalar.
    """
    with _v1.name_scope(scope, "sigmoid_cross_entropy_loss") as inner:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(multi_class_labels, logits.dtype)
        labels.shape.assert_is_compatible_with(logits.shape)
        if label_smoothing:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, inner)


@add_arg_scope
def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the mean cross entropy of logits of exclusive classes.

    Args:
      logits: [batch, classes].
      onehot_labels: [batch, classes].
      weights: as for ``compute_weighted_loss``.
      label_smoothing: moves labels towards equal shares: ``labels * (1 - s) + s / classes``.
      scope: a name scope.

    Returns:
      A scalar.
    """
    with _v1.name_scope(scope, "softmax_cross_entropy_loss") as inner:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(onehot_labels, logits.dtype)
        labels.shape.assert_is_compatible_with(logits.shape)
        if label_smoothing:
            classes = tf.cast(tf.shape(labels)[1], logits.dtype)
            labels = labels * (1 - label_smoothing) + label_smoothing / classes
        losses = _v1.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.stop_gradient(labels), logits=logits
        )
        return compute_weighted_loss(losses, weights, inner)


@add_arg_scope
def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> tf.Tensor:
    """Like ``softmax_cross_entropy``, for class indices.

    Args:
      logits: [batch, classes].
      labels: [batch] or [batch, 1], the classes.
      weights: a scalar, [batch] or [batch, 1].
      scope: a name scope.

    Returns:
      A scalar.
    """
    with _v1.name_scope(scope, "sparse_softmax_cross_entropy_loss") as inner:
        labels = tf.reshape(labels, [tf.shape(labels)[0]])
        weights = tf.convert_to_tensor(weights)
        if weights.shape.rank == 2:
            weights = tf.squeeze(weights, [1])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, inner)


@add_arg_scope
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> tf.Tensor:
    """Computes max(0, 1 - y * logits), where y is -1 for label 0, and 1 for label 1.

    Returns:
      The losses of all elements; they are added to no collection.
    """
    with _v1.name_scope(scope, "hinge_loss"):
        logits, labels = _pair(logits, labels)
        return tf.nn.relu(1.0 - (2.0 * labels - 1.0) * logits)


@add_arg_scope
def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> tf.Tensor:
    """Compares the differences within predictions to those within labels.

    The loss of an example is the mean of ``(d[i] - d[j]) ** 2`` over all pairs of its elements,
    with d = predictions - labels; the examples' losses are summed. tf.losses excludes the pair of
    an element with itself, so its result is larger by N / (N - 1).

    Args:
      predictions: [batch, ...].
      labels: a tensor of the same shape.
      weights: a scalar, or [batch].
      scope: a name scope.

    Returns:
      A scalar.
    """
    with _v1.name_scope(scope, "mean_pairwise_squared_error"):
        predictions, labels = _pair(predictions, labels)
        differences = predictions - labels
        axes = list(range(1, differences.shape.rank))
        square_of_mean = tf.square(tf.reduce_mean(differences, axes))
        losses = 2.0 * (tf.reduce_mean(tf.square(differences), axes) - square_of_mean)
        loss = tf.reduce_sum(losses * tf.cast(weights, tf.float32), name="value_2")
        add_loss(loss)
        return loss


@add_arg_scope
def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> tf.Tensor:
    """Returns the mean of 1 - sum(predictions * labels) for vectors of length 1.

    Args:
      predictions: vectors.
      labels: vectors.
      axis: the dimension of the vectors.
      weights: as for ``compute_weighted_loss``, of the products with a last dimension of 1.
      scope: a name scope.
      dim: the older name of ``axis``.

    Returns:
      A scalar.

    Raises:
      ValueError: no axis is given.
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis': the dimension of the vectors.")
    with _v1.name_scope(scope, "cosine_distance_loss") as inner:
        predictions, labels = _pair(predictions, labels)
        return compute_weighted_loss(
            1 - tf.reduce_sum(predictions * labels, axis=axis, keepdims=True), weights, inner
        )
