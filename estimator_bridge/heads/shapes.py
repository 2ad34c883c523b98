"""Checks of the shapes of logits, labels and losses.

Shapes that are known while the graph is built raise ValueError there. Unknown shapes are checked in
each step, by operations that compile to nothing on a TPU. Shapes that are known to fit add nothing.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["check_labels", "check_logits", "check_losses", "checked", "same_shape"]

_NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Training and evaluation need labels: check "
    "that input_fn returns (features, labels), and that model_fn passes its labels on."
)
_SPARSE = (
    "SparseTensor labels are not supported. Labels must be a Tensor of shape [D0, D1, ..., DN, "
    "{0}], e.g. [batch_size, {0}], with {0} value(s) for each example. In input_fn, "
    "convert them with tf.sparse.to_dense(labels)."
)
_MISMATCHED = (
    "Mismatched label shape. Expected labels dimension={}.  Received {}, of labels of shape {}. "
    "Suggested Fix: check the head's number of classes or label_dimension against the labels of "
    "input_fn. Labels are class numbers, not one-hot; convert with tf.argmax(labels, -1)."
)
_LABELS = (
    "labels shape must be [D0, D1, ... DN, {}]. Suggested Fix: check the number of classes or the "
    "label_dimension of the head, and the shape of the labels."
)


def checked(value: tf.Tensor, holds: tf.Tensor, message: list[Any]) -> tf.Tensor:
    """Returns a tensor that fails to compute unless a condition holds.

    Args:
      value: the tensor.
      holds: the condition, checked whenever `value` is computed.
      message: the parts of the InvalidArgumentError's message: strings and tensors.

    Returns:
      The checked tensor.
    """
    # Not tf.debugging.Assert, which wraps a branch around it.
    check = tf.raw_ops.Assert(condition=holds, data=message, summarize=10)
    with tf.control_dependencies([check]):
        return tf.identity(value)


def same_shape(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Compares two shapes, which may have different ranks; returns a scalar bool tensor."""
    return tf.reduce_all(tf.raw_ops.Equal(x=a, y=b, incompatible_shape_error=False))


def check_logits(logits: Any, dimension: int) -> tf.Tensor:
    """Checks the output of a model's last layer.

    Args:
      logits: numbers of shape [D0, ..., DN, dimension].
      dimension: the head's logits_dimension.

    Returns:
      The logits as float32.

    Raises:
      ValueError: the logits are known to have another shape.
    """
    with tf.name_scope("logits"):
        logits = tf.cast(logits, tf.float32)
        requirement = f"logits shape must be [D0, D1, ... DN, logits_dimension={dimension}]"
        rank = logits.shape.rank
        if rank is not None and rank < 2:
            raise ValueError(
                f"{requirement}, got {logits.shape}: logits must have rank at least 2. Received "
                f"rank {rank}. Use tf.expand_dims(logits, -1) to add a last dimension of 1."
            )
        last = None if rank is None else logits.shape[-1]
        if last is not None and isinstance(dimension, int):
            if last != dimension:
                raise ValueError(
                    f"{requirement}, got {logits.shape}. Give the last layer as many units as the "
                    f"head's logits_dimension, {dimension}."
                )
            return logits
        shape = tf.shape(logits)
        fits = same_shape(shape[-1:], tf.stack([dimension]))
        if rank is None:
            fits = tf.logical_and(fits, tf.rank(logits) >= 2)
        return checked(logits, fits, [requirement, "got", shape])


def check_labels(labels: Any, logits: tf.Tensor, dimension: int) -> tf.Tensor:
    """Checks labels against logits.

    Args:
      labels: shape [D0, ..., DN, dimension]; the last dimension may be missing.
      logits: shape [D0, ..., DN, any].
      dimension: number of labels per example.

    Returns:
      The labels with their last dimension.

    Raises:
      ValueError: labels are missing, sparse, or known to have another shape.
    """
    if labels is None:
        raise ValueError(_NO_LABELS)
    with tf.name_scope("labels"):
        labels = tf.compat.v1.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.SparseTensor):
            raise ValueError(_SPARSE.format(dimension))
        rank, logits_rank = labels.shape.rank, logits.shape.rank
        if None not in (rank, logits_rank) and rank == logits_rank - 1:
            labels = tf.expand_dims(labels, -1)
            rank += 1
        message = _LABELS.format(dimension)
        if rank is not None and rank < 2:
            raise ValueError(f"{message} Received shape: {labels.shape}.")
        last = None if rank is None else labels.shape[-1]
        if last is not None and last != dimension:
            raise ValueError(_MISMATCHED.format(dimension, last, labels.shape))
        if logits_rank is not None:
            expected = logits.shape[:-1].concatenate([dimension])
            if expected.is_fully_defined() and labels.shape == expected:
                return labels
            if tf.executing_eagerly():
                raise ValueError(
                    f"{message} expected_labels_shape: {expected}. labels_shape: {labels.shape}."
                )
        shape = tf.shape(labels)
        if rank is None:
            enough = tf.rank(labels) >= 2
            labels = checked(labels, enough, [message, "Received shape: ", shape])
            with tf.control_dependencies([labels]):
                shape = tf.identity(shape)
        expected = tf.concat([tf.shape(logits)[:-1], [dimension]], axis=0)
        return checked(
            labels,
            same_shape(expected, shape),
            [message, "expected_labels_shape: ", expected, "labels_shape: ", shape],
        )


def check_losses(losses: tf.Tensor, logits: tf.Tensor, dimension: int) -> tf.Tensor:
    """Checks the result of a user's loss function.

    Args:
      losses: one loss per label, shape [D0, ..., DN, dimension].
      logits: shape [D0, ..., DN, any].
      dimension: number of losses per example.

    Returns:
      The losses.

    Raises:
      ValueError: when executing eagerly, the losses have another shape.
    """
    message = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
    if tf.executing_eagerly():
        expected = logits.shape[:-1].concatenate([dimension])
        if losses.shape != expected:
            raise ValueError(
                f"{message}logits_shape: {logits.shape}, loss_shape: {losses.shape}. Return "
                "unreduced losses; the head reduces them."
            )
        return losses
    logits_shape, shape = tf.shape(logits), tf.shape(losses)
    expected = tf.concat([logits_shape[:-1], [dimension]], axis=0)
    return checked(
        losses,
        same_shape(expected, shape),
        [message, "logits_shape: ", logits_shape, "loss_shape: ", shape],
    )
