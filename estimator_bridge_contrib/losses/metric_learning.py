"""tf.contrib.losses.metric_learning: losses that pull embeddings of one class together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.losses.embedding_distances import distances, squared_distances
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["losses.metric_learning"].opened()


def _same_class(labels: Any) -> tf.Tensor:
    labels = tf.reshape(labels, [-1])
    return tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> tf.Tensor:
    """Pulls pairs of one class together, and pushes others apart (Hadsell, Chopra, LeCun 2006).

    Args:
      labels: [batch], 1 for pairs of one class, 0 for others.
      embeddings_anchor: [batch, size].
      embeddings_positive: [batch, size].
      margin: the minimal distance of pairs of two classes.

    Returns:
      The mean of ``y * d ** 2 + (1 - y) * max(margin - d, 0) ** 2``.
    """
    squares = tf.reduce_sum(tf.square(embeddings_anchor - embeddings_positive), 1)
    distances, labels = tf.sqrt(squares), tf.cast(labels, tf.float32)
    apart = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(labels * squares + (1.0 - labels) * apart, name="contrastive_loss")


def triplet_semihard_loss(labels: Any, embeddings: tf.Tensor, margin: float = 1.0) -> tf.Tensor:
    """Computes the triplet loss with semi-hard negatives (Schroff et al., FaceNet, 2015).

    For an anchor and a positive, the negative is the nearest one that is farther than the positive,
    or the farthest one if there is none. Distances are squared.

    Args:
      labels: [batch] or [batch, 1], classes.
      embeddings: [batch, size], normalized.
      margin: the minimal difference of the distances of negatives and positives.

    Returns:
      The mean of ``max(0, margin + positive - negative)`` over pairs of anchor and positive.
    """
    apart = squared_distances(embeddings)
    same = _same_class(labels)
    negative = tf.logical_not(same)
    # Shape [anchor, positive, negative]:
    all_negatives = tf.expand_dims(apart, 1)
    is_farther = tf.logical_and(
        tf.expand_dims(negative, 1), all_negatives > tf.expand_dims(apart, 2)
    )
    infinite = tf.fill(tf.shape(is_farther), tf.constant(float("inf"), apart.dtype))
    candidates = tf.broadcast_to(all_negatives, tf.shape(is_farther))
    nearest_farther = tf.reduce_min(tf.where(is_farther, candidates, infinite), axis=2)
    zeros = tf.zeros_like(apart)
    farthest = tf.reduce_max(tf.where(negative, apart, zeros), axis=1, keepdims=True)
    has_farther = tf.reduce_any(is_farther, axis=2)
    # Keeps the infinities of the other branch out of the gradient.
    nearest_farther = tf.where(has_farther, nearest_farther, zeros)
    chosen = tf.where(has_farther, nearest_farther, tf.broadcast_to(farthest, tf.shape(apart)))
    positives = tf.linalg.set_diag(tf.cast(same, apart.dtype), tf.linalg.diag_part(zeros))
    losses = tf.maximum(margin + apart - chosen, 0.0) * positives
    return tf.math.divide_no_nan(
        tf.reduce_sum(losses), tf.reduce_sum(positives), name="triplet_semihard_loss"
    )


def npairs_loss(
    labels: Any,
    embeddings_anchor: tf.Tensor,
    embeddings_positive: tf.Tensor,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> tf.Tensor:
    """Computes the N-pairs loss (Sohn 2016).

    Args:
      labels: [batch], classes.
      embeddings_anchor: [batch, size].
      embeddings_positive: [batch, size], the i-th of the same class as the i-th anchor.
      reg_lambda: the weight of the embeddings' squared norms.
      print_losses: has no effect: add summaries instead.

    Returns:
      The cross entropy of anchors' products with positives, plus the regularization.
    """
    del print_losses
    same = tf.cast(_same_class(labels), tf.float32)
    return _npairs(same, embeddings_anchor, embeddings_positive, reg_lambda)


def npairs_loss_multilabel(
    sparse_labels: Sequence[tf.SparseTensor],
    embeddings_anchor: tf.Tensor,
    embeddings_positive: tf.Tensor,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> tf.Tensor:
    """Computes the N-pairs loss of pairs with several labels each.

    Args:
      sparse_labels: one SparseTensor of the same shape for each pair, with the labels' weights.
      embeddings_anchor: [batch, size].
      embeddings_positive: [batch, size], the i-th with the labels of the i-th anchor.
      reg_lambda: the weight of the embeddings' squared norms.
      print_losses: has no effect: add summaries instead.

    Returns:
      The cross entropy of anchors' products with positives, plus the regularization. A target is
      the part of its row's sum of common labels.

    Raises:
      TypeError: labels are not SparseTensors.
    """
    del print_losses
    if not all(isinstance(each, tf.SparseTensor) for each in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels!r}")
    common = [
        [tf.sparse.reduce_sum(tf.sparse.minimum(first, second)) for second in sparse_labels]
        for first in sparse_labels
    ]
    same = tf.stack([tf.cast(tf.stack(row), tf.float32) for row in common])
    return _npairs(same, embeddings_anchor, embeddings_positive, reg_lambda)


def _npairs(same: tf.Tensor, anchors: tf.Tensor, positives: tf.Tensor, scale: float) -> tf.Tensor:
    norms = [tf.reduce_mean(tf.reduce_sum(tf.square(each), 1)) for each in (anchors, positives)]
    logits = tf.matmul(anchors, positives, transpose_b=True)
    targets = same / tf.reduce_sum(same, 1, keepdims=True)
    entropy = tf.nn.softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    return tf.reduce_mean(entropy) + 0.25 * scale * tf.add_n(norms)


def lifted_struct_loss(labels: Any, embeddings: tf.Tensor, margin: float = 1.0) -> tf.Tensor:
    """Computes the loss of lifted structures (Oh Song, Xiang, Jegelka, Savarese 2016).

    For a pair (i, j) of one class, it is their distance plus the logarithm of the sum of
    ``exp(margin - d)`` over all negatives of i and of j.

    Args:
      labels: [batch] or [batch, 1], classes.
      embeddings: [batch, size], not normalized.
      margin: the minimal distance of negatives.

    Returns:
      Half the mean over pairs of ``max(0, J) ** 2``.
    """
    lengths = distances(embeddings)
    same = _same_class(labels)
    never = tf.fill(tf.shape(lengths), tf.constant(-1e30, lengths.dtype))
    negatives = tf.reduce_logsumexp(tf.where(same, never, margin - lengths), axis=1, keepdims=True)
    of_both = tf.reduce_logsumexp(
        tf.stack(
            [
                negatives + tf.zeros_like(lengths),
                tf.transpose(negatives) + tf.zeros_like(lengths),
            ]
        ),
        axis=0,
    )
    positives = tf.linalg.set_diag(
        tf.cast(same, lengths.dtype), tf.zeros_like(tf.linalg.diag_part(lengths))
    )
    losses = tf.square(tf.maximum(of_both + lengths, 0.0)) * positives
    return tf.math.divide_no_nan(
        tf.reduce_sum(losses) * 0.5, tf.reduce_sum(positives), name="liftedstruct_loss"
    )
