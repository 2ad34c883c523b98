"""The hinge loss of several classes."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["sparse_multiclass_hinge_loss"]

_v1 = tf.compat.v1
_losses = _v1.losses


def sparse_multiclass_hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _v1.GraphKeys.LOSSES,
    reduction: str = _losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> tf.Tensor:
    """Computes the hinge loss of Crammer and Singer.

    With the logit z of the label, it is the largest of 0 and logits - z + 1 over the other classes:
    On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines (2001).

    Args:
      labels: classes, [batch] or [batch, 1], int32 or int64.
      logits: [batch, classes].
      weights: a number, [batch] or [batch, 1].
      scope: the operations' scope.
      loss_collection: the graph's collection that gets the loss.
      reduction: one of ``tf.compat.v1.losses.Reduction``.

    Returns:
      The weighted loss; one for each example if reduction is NONE.

    Raises:
      ValueError: a shape or a type does not fit.
    """
    with _v1.name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as path:
        _check(labels, logits)
        classes = tf.shape(logits)[1]
        logits = tf.cast(logits, tf.float32)
        in_range = _v1.assert_less(labels, tf.cast(classes, labels.dtype))
        with tf.control_dependencies([in_range]):
            labels = tf.reshape(labels, [-1])
        weights = tf.convert_to_tensor(weights)
        if weights.shape.rank not in (0, 1, 2):
            raise ValueError(
                "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). "
                f"Given rank is {weights.shape.rank}"
            )
        if weights.shape.rank > 0:
            weights = tf.reshape(weights, [-1])
            weights.shape.assert_is_compatible_with(labels.shape)
        own = tf.gather(logits, labels, axis=1, batch_dims=1)[:, None]
        margins = logits - own + tf.one_hot(labels, classes, on_value=0.0, off_value=1.0)
        worst = tf.reduce_max(tf.nn.relu(margins), axis=1)
        return _losses.compute_weighted_loss(
            worst, weights, path, loss_collection, reduction=reduction
        )


def _check(labels: Any, logits: Any) -> None:
    if logits.shape.rank != 2:
        raise ValueError(
            "logits should have rank 2 ([batch_size, num_classes]). Given rank is "
            f"{logits.shape.rank}"
        )
    if labels.dtype not in (tf.int32, tf.int64):
        raise ValueError(
            f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64"
        )
    if labels.shape.rank not in (1, 2):
        raise ValueError(
            "labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is "
            f"{labels.shape.rank}"
        )
