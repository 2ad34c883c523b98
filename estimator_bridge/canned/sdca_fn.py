"""Trains a linear model by SDCA: one call of TensorFlow's solver per step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.canned.linear_network import LinearModel
from estimator_bridge.canned.one_replica import check_one_replica
from estimator_bridge.canned.sdca import LinearSDCA
from estimator_bridge.canned.sdca_examples import Examples, examples_of
from estimator_bridge.canned.sdca_solver import SolverOptions, shrunk, solve
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
    unshrunk_parts = [[_unshrunk(part) for part in column.parts] for column in _columns(examples)]
    states = ExampleStates(optimizer.num_table_shards)
    _summarize(optimizer, examples, states)
    with tf.name_scope("sdca"):
        ids = tf.raw_ops.SdcaFprint(input=features[optimizer.example_id_column])
        count = len(examples.sparse)
        new_states, changes = solve(
            SolverOptions(
                loss_type,
                optimizer.l1,
                optimizer.l2,
                optimizer.num_loss_partitions,
                optimizer.adaptive,
            ),
            [(column.rows, column.ids, column.values) for column in examples.sparse],
            [column.values for column in examples.dense],
            (unshrunk_parts[:count], unshrunk_parts[count:]),
            (targets, weights, states.lookup(ids)),
        )
        with tf.control_dependencies([new_states]):
            updates = [states.insert(ids, new_states)]
            for change, parts in zip(changes, unshrunk_parts):
                updates += change(parts)
        with tf.control_dependencies(updates):
            copies = [
                part.assign(shrunk(source.read_value(), optimizer.l1, optimizer.l2))
                for column, sources in zip(_columns(examples), unshrunk_parts)
                for part, source in zip(column.parts, sources)
            ]
            increment = _v1.assign_add(_v1.train.get_global_step(), 1)
    return tf.group(increment, *copies)


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
