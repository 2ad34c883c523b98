"""The clustering loss of embeddings (Oh Song, Jegelka, Rathod, Murphy 2017).

The loss compares two ways to choose a center for each class: the best ones for the true classes,
and those that cost the least although their clusters are wrong. The latter are found greedily, and
then improved one by one (PAM).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.losses.embedding_distances import distances

__all__ = ["cluster_loss"]

_v1 = tf.compat.v1
_ROUNDS = 5
_Score = Callable[[np.ndarray, np.ndarray], Any]
# By margin type, the function of sklearn.metrics; some of them can be negative.
_SCORES = {
    "nmi": "normalized_mutual_info_score",
    "ami": "adjusted_mutual_info_score",
    "ari": "adjusted_rand_score",
    "vmeasure": "v_measure_score",
}


def cluster_loss(
    labels: Any,
    embeddings: tf.Tensor,
    margin_multiplier: float,
    enable_pam_finetuning: bool = True,
    margin_type: str = "nmi",
    print_losses: bool = False,
) -> tf.Tensor:
    """Computes the clustering loss; it needs scikit-learn.

    Args:
      labels: [batch] or [batch, 1], classes.
      embeddings: [batch, size], normalized.
      margin_multiplier: the weight of a wrong clustering's score.
      enable_pam_finetuning: whether greedily chosen centers are improved.
      margin_type: how a clustering is compared with the classes: "nmi" (normalized mutual
        information), "ami" (adjusted), "ari" (adjusted Rand index), "vmeasure"; or "const", which
        is 1 if each example's cluster has the number of its class, and 0 otherwise.
      print_losses: whether to print the loss whenever it is computed.

    Returns:
      A scalar.

    Raises:
      ImportError: scikit-learn is not installed.
      ValueError: there is no such margin type.
    """
    score = _score_of(margin_type)
    labels = tf.reshape(labels, [-1])
    apart = distances(embeddings)

    def choose(lengths: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        centers = _greedy_centers(lengths, classes, margin_multiplier, score)
        if enable_pam_finetuning:
            for _ in range(_ROUNDS):
                _improve(centers, lengths, classes, margin_multiplier, score)
        agreement = score(classes, _clusters(lengths, centers))
        return np.array(centers, np.int32), np.array(agreement, np.float32)

    centers, agreement = tf.numpy_function(choose, [apart, labels], [tf.int32, tf.float32])
    centers.set_shape([None])
    agreement.set_shape([])
    score_pred = -tf.reduce_sum(tf.reduce_min(tf.gather(apart, centers), axis=0))
    score_gt = _best_of_classes(apart, labels)
    loss = tf.maximum(
        score_pred + margin_multiplier * (1.0 - agreement) - score_gt, 0.0, name="clustering_loss"
    )
    if print_losses:
        loss = _v1.Print(loss, ["clustering_loss: ", loss, tf.shape(loss)])
    _v1.summary.scalar("losses/score_pred", score_pred)
    _v1.summary.scalar(f"losses/{margin_type}", agreement)
    _v1.summary.scalar("losses/score_gt", score_gt)
    return loss


def _score_of(margin_type: str) -> _Score:
    if margin_type == "const":
        return lambda labels, clusters: float(np.all(labels == clusters))
    if margin_type not in _SCORES:
        raise ValueError(
            f"Unrecognized margin_type: {margin_type}. Use {', '.join(_SCORES)} or const."
        )
    try:
        metrics = importlib.import_module("sklearn.metrics")
    except ImportError as error:
        raise ImportError(
            "Cluster loss depends on sklearn. Run: pip install scikit-learn; or use "
            "tf.contrib.losses.metric_learning.triplet_semihard_loss."
        ) from error
    function = getattr(metrics, _SCORES[margin_type])
    return lambda labels, clusters: max(float(function(labels, clusters)), 0.0)


def _best_of_classes(apart: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns minus the sum over classes of the distances to the best center of each."""
    names, numbers = tf.unique(labels)
    same = tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))
    sums = tf.reduce_sum(tf.where(same, apart, tf.zeros_like(apart)), axis=1)
    return -tf.reduce_sum(tf.math.unsorted_segment_min(sums, numbers, tf.size(names)))


def _clusters(lengths: np.ndarray, centers: list[int]) -> np.ndarray:
    """Returns for each example the number of the nearest center; a center has its own."""
    nearest = np.argmin(lengths[centers], axis=0)
    nearest[centers] = np.arange(len(centers))
    return nearest


def _greedy_centers(
    lengths: np.ndarray, labels: np.ndarray, weight: float, score: _Score
) -> list[int]:
    centers: list[int] = []
    for _ in range(len(np.unique(labels))):
        candidates = np.setdiff1d(np.arange(len(labels)), centers)
        nearest = lengths[centers].min(axis=0, initial=np.inf)
        costs = np.minimum(lengths[candidates], nearest).sum(axis=1)
        wrong = [1.0 - score(labels, _clusters(lengths, [*centers, each])) for each in candidates]
        centers.append(int(candidates[np.argmax(weight * np.array(wrong, np.float32) - costs)]))
    return centers


def _improve(
    centers: list[int], lengths: np.ndarray, labels: np.ndarray, weight: float, score: _Score
) -> None:
    """Replaces each center by the member of its cluster that scores best."""
    clusters = _clusters(lengths, centers)
    for number in range(len(centers)):
        members = np.flatnonzero(clusters == number)
        costs = lengths[np.ix_(members, members)].sum(axis=0)
        wrong = []
        for each in members:
            changed = [*centers[:number], int(each), *centers[number + 1 :]]
            wrong.append(1.0 - score(labels, _clusters(lengths, changed)))
        centers[number] = int(members[np.argmax(weight * np.array(wrong, np.float32) - costs)])
