"""Trains a linear model by SDCA: one call of TensorFlow's solver per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.canned.linear_network import LinearModel
from estimator_bridge.canned.one_replica import check_one_replica
from estimator_bridge.canned.sdca import LinearSDCA
from estimator_bridge.canned.sdca_examples import Examples, examples_of
from estimator_bridge.canned.sdca_table import ExampleStates
from estimator_bridge.heads import BinaryClassHead, RegressionHead
from estimator_bridge.heads.weights import example_weights

__all__ = ["sdca_train_op"]

_v1 = tf.compat.v1


def sdca_train_op(
    optimizer: LinearSDCA,
    head: Any,
    columns: Sequence[Any],
    features: dict[str, Any],
    labels: Any,
    model: LinearModel,
) -> tf.Operation:
    """Builds the training operation of a batch, which increments the global step.

    Args:
      optimizer: the user's optimizer.
      head: a V1 or V2 head for two classes or one number.
      columns: the model's columns.
      features: the features by key, with the example IDs.
      labels: the labels from input_fn.
      model: the model in the graph.

    Raises:
      KeyError: the features have no IDs.
      ValueError: the head is of another kind, a dense column has more than one dimension, or there
        are several replicas.
    """
    check_one_replica("LinearSDCA", "a step solves the dual problem of its own batch")
    head = getattr(head, "head", head)  # V1's heads wrap a V2 head
    loss_type = _loss_type(head)
    if optimizer.example_id_column not in features:
        raise KeyError(
            f"LinearSDCA identifies examples by the feature {optimizer.example_id_column!r}, a "
            f"string for each; the features are {sorted(features)}. Return it from input_fn, too."
        )
    if optimizer.l2 <= 1.0:
        logging.warning(
            "symmetric_l2_regularization for SDCA should typically be larger than for online "
            "optimization methods: of the order of the average L2 norm of the examples. It is %s.",
            optimizer.l2,
        )
    targets = tf.reshape(head.processed_labels(labels, model.logits), [-1])
    weights = example_weights(features, head._weight_column, model.logits, False)
    weights = tf.ones_like(targets) if weights is None else tf.reshape(weights, [-1])
    examples = examples_of(features, columns, model, tf.shape(targets)[0])
    kept = [[_unshrunk(part) for part in column.parts] for column in _columns(examples)]
    states = ExampleStates(optimizer.num_table_shards)
    _summarize(optimizer, examples, states)
    with tf.name_scope("sdca"):
        ids = tf.raw_ops.SdcaFprint(input=features[optimizer.example_id_column])
        solved = _solved(optimizer, loss_type, examples, kept, targets, weights, states.lookup(ids))
        new_states, moves = solved
        with tf.control_dependencies([new_states]):
            updates = [states.insert(ids, new_states)]
            for move, parts in zip(moves, kept):
                updates += move(parts)
        with tf.control_dependencies(updates):
            copied = [
                part.assign(_shrunk(source.read_value(), optimizer))
                for column, sources in zip(_columns(examples), kept)
                for part, source in zip(column.parts, sources)
            ]
            counted = _v1.assign_add(_v1.train.get_global_step(), 1)
    return tf.group(counted, *copied)


def _loss_type(head: Any) -> str:
    if isinstance(head, BinaryClassHead):
        return "logistic_loss"
    if type(head) is RegressionHead and head.logits_dimension == 1:
        return "squared_loss"
    raise ValueError(
        f"Unsupported head type: {head}. LinearSDCA trains a BinaryClassHead, or a RegressionHead "
        "with label_dimension=1."
    )


def _columns(examples: Examples) -> list[Any]:
    return [*examples.sparse, *examples.dense]


def _unshrunk(part: Any) -> Any:
    """Creates the solver's copy of a weight, which the L1 regularization does not shrink."""
    return _v1.Variable(
        lambda: tf.zeros(part.shape), name=f"{part.op.name}_unshrunk", use_resource=True
    )


def _whole(parts: Sequence[Any]) -> tf.Tensor:
    return tf.concat([part.read_value() for part in parts], 0)


def _solved(
    optimizer: LinearSDCA,
    loss_type: str,
    examples: Examples,
    kept: list[list[Any]],
    targets: tf.Tensor,
    weights: tf.Tensor,
    states: tf.Tensor,
) -> tuple[tf.Tensor, list[Callable[[list[Any]], list[Any]]]]:
    """Calls the solver; returns the examples' new states, and each column's weight update."""
    sparse_kept, dense_kept = kept[: len(examples.sparse)], kept[len(examples.sparse) :]
    used = [tf.unique(column.ids)[0] for column in examples.sparse]
    result = tf.raw_ops.SdcaOptimizerV2(
        sparse_example_indices=[column.rows for column in examples.sparse],
        sparse_feature_indices=[column.ids for column in examples.sparse],
        sparse_feature_values=[column.values for column in examples.sparse],
        dense_features=[column.values for column in examples.dense],
        example_weights=weights,
        example_labels=targets,
        sparse_indices=used,
        sparse_weights=[tf.gather(_whole(parts), ids) for parts, ids in zip(sparse_kept, used)],
        dense_weights=[_whole(parts) for parts in dense_kept],
        example_state_data=states,
        loss_type=loss_type,
        l1=optimizer.l1,
        l2=optimizer.l2,
        num_loss_partitions=optimizer.num_loss_partitions,
        num_inner_iterations=1,
        adaptive=optimizer.adaptive,
    )
    new_states, sparse_moves, dense_moves = result
    moves = [_by_id(ids, delta) for ids, delta in zip(used, sparse_moves)]
    return new_states, moves + [_of_all(delta) for delta in dense_moves]


def _by_id(ids: tf.Tensor, delta: tf.Tensor) -> Callable[[list[Any]], list[Any]]:
    def move(parts: list[Any]) -> list[Any]:
        updates, first = [], 0
        for part in parts:
            rows = part.shape.as_list()[0]
            is_here = (ids >= first) & (ids < first + rows)
            here = tf.boolean_mask(ids, is_here) - first
            slices = tf.IndexedSlices(tf.boolean_mask(delta, is_here), here)
            updates.append(part.scatter_add(slices))
            first += rows
        return updates

    return move


def _of_all(delta: tf.Tensor) -> Callable[[list[Any]], list[Any]]:
    def move(parts: list[Any]) -> list[Any]:
        sizes = [part.shape.as_list()[0] for part in parts]
        return [part.assign_add(d) for part, d in zip(parts, tf.split(delta, sizes))]

    return move


def _shrunk(weights: tf.Tensor, optimizer: LinearSDCA) -> tf.Tensor:
    """Applies the proximal step of the L1 regularization."""
    if not optimizer.l1:
        return weights
    return tf.sign(weights) * tf.maximum(0.0, tf.abs(weights) - optimizer.l1 / optimizer.l2)


def _summarize(optimizer: LinearSDCA, examples: Examples, states: ExampleStates) -> None:
    """Writes summaries of the duality gap and the number of examples seen."""
    weights = [
        tf.cast(part.read_value(), tf.float64)
        for column in _columns(examples)
        for part in column.parts
    ]
    l1 = optimizer.l1 * tf.add_n([tf.reduce_sum(tf.abs(weight)) for weight in weights])
    l2 = optimizer.l2 * tf.add_n([tf.reduce_sum(tf.square(weight)) for weight in weights])
    _, primal, dual, count = tf.unstack(states.sums(), num=4)
    _v1.summary.scalar("approximate_duality_gap", (primal + dual + l1 + l2) / count)
    _v1.summary.scalar("examples_seen", states.size())
