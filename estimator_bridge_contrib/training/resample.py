"""Randomly resamples the examples of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["resample_at_rate", "weighted_resample"]

_v1 = tf.compat.v1


def resample_at_rate(
    inputs: Sequence[Any],
    rates: Any,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[tf.Tensor]:
    """Randomly repeats or drops each example of a batch.

    Args:
      inputs: tensors [batch, ...]; the same examples are chosen from all.
      rates: [batch], the expected number of copies of each example; the number is drawn from a
        Poisson distribution.
      scope: a name scope.
      seed: the seed of the draw.
      back_prop: has no effect: gradients flow into ``inputs``, never into the draw.

    Returns:
      Tensors [chosen, ...]; repeated examples are adjacent.
    """
    del back_prop
    with tf.name_scope(scope or "resample_at_rate"):
        rates = tf.convert_to_tensor(rates, name="rates")
        counts = tf.cast(_v1.random_poisson(rates, [], rates.dtype, seed=seed), tf.int32)
        chosen = tf.repeat(tf.range(tf.size(counts)), counts)
        return [tf.gather(tensor, chosen) for tensor in inputs]


def weighted_resample(
    inputs: Sequence[Any],
    weights: tf.Tensor,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    """Chooses examples in proportion to their weights.

    The rate of an example is ``overall_rate * weight / mean``. The mean of all weights is estimated
    over the batches by a bias-corrected average in a local variable.

    Args:
      inputs: tensors [batch, ...].
      weights: [batch].
      overall_rate: the expected ratio of output to input examples.
      scope: a scope of names and variables.
      mean_decay: the decay of the estimate, per batch.
      seed: the seed of the draw.

    Returns:
      Tensors [chosen, ...], and the rate of each chosen example.
      Tensors [chosen, ...], and the rate of each chosen example.
    """
    with _v1.variable_scope(scope, "weighted_resample"):
        zeros = _v1.zeros_initializer()
        total = _v1.get_local_variable("estimated_mean", [], weights.dtype, zeros, trainable=False)
        # 1 - mean_decay ** batches: the total weight of the batches so far in the average.
        share = _v1.get_local_variable("mean_share", [], weights.dtype, zeros, trainable=False)
        new = 1.0 - mean_decay
        biased = _v1.assign_add(total, (tf.reduce_mean(weights) - total) * new)
        mean = biased / _v1.assign_add(share, (1.0 - share) * new)
        rates = weights * (overall_rate / mean)
        *chosen, chosen_rates = resample_at_rate([*inputs, rates], rates, seed=seed)
        return chosen, chosen_rates
