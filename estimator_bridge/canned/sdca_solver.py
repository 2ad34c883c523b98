"""One step of SDCA: TensorFlow's solver, and the updates of the weights that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["SolverOptions", "shrunk", "solve"]

Update = Callable[[list[Any]], list[Any]]


class SolverOptions(NamedTuple):
    """Settings of the solver of the dual problem.

    Attributes:
      loss_type: the solver's name of the loss.
      l1: the L1 regularization.
      l2: the L2 regularization, above 0.
      num_loss_partitions: the number of workers that train on parts of the data.
      adaptive: whether to sample examples by their expected gain.
    """

    loss_type: str
    l1: float
    l2: float
    num_loss_partitions: int
    adaptive: bool


def solve(
    options: SolverOptions,
    sparse: Sequence[tuple[Any, Any, Any]],
    dense: Sequence[Any],
    weights: tuple[Sequence[list[Any]], Sequence[list[Any]]],
    examples: tuple[Any, Any, Any],
) -> tuple[tf.Tensor, list[Update]]:
    """Solves the dual problem of a batch.

    Args:
      options: how.
      sparse: by column of ids, the examples' numbers, the ids and their values, each [entries].
      dense: by column of numbers, these [batch, n].
      weights: by sparse column and by dense column, the variables of its weights, parts of
        consecutive rows.
      examples: the labels [batch], the weights [batch], and the states [batch, 4].

    Returns:
      The examples' new states, and for each column, the sparse ones first, a function that adds the
      solver's change to its variables and returns the operations.
    """
    of_ids, of_numbers = weights
    batch_ids = [tf.unique(ids)[0] for _, ids, _ in sparse]
    labels, importance, states = examples
    new_states, sparse_changes, dense_changes = tf.raw_ops.SdcaOptimizerV2(
        sparse_example_indices=[rows for rows, _, _ in sparse],
        sparse_feature_indices=[ids for _, ids, _ in sparse],
        sparse_feature_values=[values for _, _, values in sparse],
        dense_features=list(dense),
        example_weights=importance,
        example_labels=labels,
        sparse_indices=batch_ids,
        sparse_weights=[tf.gather(_whole(parts), ids) for parts, ids in zip(of_ids, batch_ids)],
        dense_weights=[_whole(parts) for parts in of_numbers],
        example_state_data=states,
        loss_type=options.loss_type,
        l1=options.l1,
        l2=options.l2,
        num_loss_partitions=options.num_loss_partitions,
        num_inner_iterations=1,
        adaptive=options.adaptive,
    )
    updates = [_by_id(ids, change) for ids, change in zip(batch_ids, sparse_changes)]
    return new_states, updates + [_of_all(change) for change in dense_changes]


def shrunk(weights: tf.Tensor, l1: float, l2: float) -> tf.Tensor:
    """Applies the proximal step of the L1 regularization."""
    return tf.sign(weights) * tf.maximum(0.0, tf.abs(weights) - l1 / l2) if l1 else weights


def _whole(parts: Sequence[Any]) -> tf.Tensor:
    return tf.concat([part.read_value() for part in parts], 0)


def _by_id(ids: tf.Tensor, change: tf.Tensor) -> Update:
    def update(parts: list[Any]) -> list[Any]:
        updates, first = [], 0
        for part in parts:
            rows = part.shape.as_list()[0]
            is_in_part = (ids >= first) & (ids < first + rows)
            local_ids = tf.boolean_mask(ids, is_in_part) - first
            slices = tf.IndexedSlices(tf.boolean_mask(change, is_in_part), local_ids)
            updates.append(part.scatter_add(slices))
            first += rows
        return updates

    return update


def _of_all(change: tf.Tensor) -> Update:
    def update(parts: list[Any]) -> list[Any]:
        sizes = [part.shape.as_list()[0] for part in parts]
        return [part.assign_add(each) for part, each in zip(parts, tf.split(change, sizes))]

    return update
