"""Exchanges of values between replicas, in TPU mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model.cross_shard import number_of_shards

__all__ = ["all_to_all", "collective_permute"]


def all_to_all(
    x: Any,
    concat_dimension: int,
    split_dimension: int,
    split_count: int,
    group_assignment: Sequence[Sequence[int]] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Splits each replica's value, sends part i to the i-th replica, and joins the received parts.

    Args:
      x: each replica's own value, with the same shape and type on all.
      concat_dimension: the dimension along which the received parts are joined, in the order of
        the replicas.
      split_dimension: the dimension along which the value is split.
      split_count: the number of parts: the number of replicas in a group.
      group_assignment: lists of replica numbers, one for each group that exchanges values; all
        replicas are one group by default.
      name: name of the operation.

    Returns:
      The joined parts. Outside of TPU mode, with one replica, `x`.

    Raises:
      ValueError: `split_count` is not the size of the groups.
    """
    shards = number_of_shards()
    if shards is None:
        return tf.identity(x, name=name)
    groups = [list(range(shards))] if group_assignment is None else group_assignment
    if any(len(group) != split_count for group in groups):
        raise ValueError(
            f"split_count {split_count} must equal the size of each subgroup of replicas, got "
            f"{groups}."
        )
    return tf.raw_ops.AllToAll(
        input=x,
        group_assignment=tf.constant(groups, tf.int32),
        concat_dimension=concat_dimension,
        split_dimension=split_dimension,
        split_count=split_count,
        name=name,
    )


def collective_permute(
    x: Any, source_target_pairs: Sequence[Sequence[int]], name: str | None = None
) -> tf.Tensor:
    """Sends values from replica to replica.

    Args:
      x: each replica's own value, with the same shape and type on all.
      source_target_pairs: pairs of replica numbers, sender and receiver. No replica receives two
        values.
      name: name of the operation.

    Returns:
      The value that this replica received; zeros if it received none. Outside of TPU mode, with
      one replica, `x`.

    Raises:
      ValueError: a replica would receive two values.
    """
    targets = [target for _, target in source_target_pairs]
    if len(set(targets)) < len(targets):
        raise ValueError(
            f"source_target_pairs {source_target_pairs} sends more than one value to a replica."
        )
    if number_of_shards() is None:
        return tf.identity(x, name=name)
    return tf.raw_ops.CollectivePermute(
        input=x, source_target_pairs=tf.constant(source_target_pairs, tf.int32), name=name
    )
