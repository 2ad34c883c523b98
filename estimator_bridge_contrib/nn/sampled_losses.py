"""Softmax losses over sampled classes."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["rank_sampled_softmax_loss", "sampled_sparse_softmax_loss"]

_v1 = tf.compat.v1


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> tf.Tensor:
    """Computes a softmax loss over those sampled classes that the inputs find most probable.

    The two passes of TAPAS, https://arxiv.org/abs/1707.03073: of num_sampled classes, those with
    the largest logsumexp over the inputs of (w x + b) / temperature are kept.

    Args:
      weights: [num_classes, size], or parts of it.
      biases: [num_classes].
      labels: [batch, num_true], the classes.
      inputs: [batch, size].
      num_sampled: how many classes are sampled.
      num_resampled: how many of them are kept.
      num_classes: the number of classes.
      num_true: the number of classes of an example.
      sampled_values: what a candidate sampler has returned; None for the learned unigram sampler.
      resampling_temperature: a scalar; the lower it is, the more the inputs decide.
      remove_accidental_hits: whether a sampled class that is an example's own is left out.
      partition_strategy: "div" or "mod", of weights in several parts.
      name: the operations' name.

    Returns:
      Losses, [batch].

    Raises:
      ValueError: the counts do not descend, or the strategy is another one.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})"
        )
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with _v1.name_scope(name, "rank_sampled_softmax_loss") as scope:
        sampled = sampled_values or tf.random.learned_unigram_candidate_sampler(
            true_classes=labels,
            num_true=num_true,
            num_sampled=num_sampled,
            unique=True,
            range_max=num_classes,
        )
        classes, true_counts, counts = (tf.stop_gradient(each) for each in sampled)
        classes = tf.cast(classes, tf.int64)
        rows, offsets = (
            _v1.nn.embedding_lookup(each, classes, partition_strategy=partition_strategy)
            for each in (weights, biases)
        )
        scores = tf.reduce_logsumexp(
            tf.matmul(rows, inputs / resampling_temperature, transpose_b=True), axis=1
        )
        scores += tf.reshape(offsets, [-1]) / resampling_temperature
        _, best = tf.nn.top_k(scores, num_resampled, sorted=False)
        return _v1.nn.sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=(tf.gather(classes, best), true_counts, tf.gather(counts, best)),
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=scope,
        )


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> tf.Tensor:
    """Computes the sampled softmax loss of examples with one class.

    The same number as ``tf.nn.sampled_softmax_loss`` with ``num_true=1``: its target is 1 for the
    class of the example, and 0 for all sampled ones.

    Args:
      weights: [num_classes, size], or parts of it.
      biases: [num_classes].
      labels: [batch, 1], the classes.
      inputs: [batch, size].
      num_sampled: how many classes are sampled.
      num_classes: the number of classes.
      sampled_values: what a candidate sampler has returned; None for the log-uniform sampler.
      remove_accidental_hits: whether a sampled class that is an example's own is left out.
      partition_strategy: "div" or "mod", of weights in several parts.
      name: the operations' name.

    Returns:
      Losses, [batch].
    """
    return _v1.nn.sampled_softmax_loss(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=1,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
