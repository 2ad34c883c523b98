"""TF1's optimizers."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "AdamTensors",
    "adam_tensors",
    "shard_reduction",
]


class AdamTensors(NamedTuple):
    """The tensors of tf.compat.v1.train.AdamOptimizer, for its subclasses.

    Attributes:
      learning_rate: as given.
      beta1: as given.
      beta2: as given.
      epsilon: as given.
      beta1_power: variable, beta1 to the power of the number of updates.
      beta2_power: the same for beta2.
    """

    learning_rate: Any
    beta1: Any
    beta2: Any
    epsilon: Any
    beta1_power: Any
    beta2_power: Any


def adam_tensors(optimizer: Any) -> AdamTensors:
    """The tensors of an AdamOptimizer that is prepared in this graph."""
    return AdamTensors(
        optimizer._lr_t,
        optimizer._beta1_t,
        optimizer._beta2_t,
        optimizer._epsilon_t,
        *optimizer._get_beta_accumulators(),
    )


def shard_reduction(optimizer: Any) -> str:
    """The gradient reduction of a CrossShardOptimizer, TensorFlow's or this library's."""
    return optimizer._reduction
