"""Builds the loss and the training step of an adapter."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.model.ancestors import ancestors
from estimator_bridge.model.cross_shard import CrossShardOptimizer
from estimator_bridge.model.keras_layers import KerasLayers
from estimator_bridge.model.keras_optimizer import as_graph_optimizer

__all__ = ["make_train_op", "with_regularization"]

_READS = ("ReadVariableOp", "VarIsInitializedOp")


def with_regularization(loss: tf.Tensor, layers: KerasLayers) -> tf.Tensor:
    """Adds the layers' regularization losses that the loss does not already contain.

    Args:
      loss: a scalar.
      layers: the tf_keras layers of the model; other layers' losses are in the graph's collection.

    Returns:
      The total loss, a scalar.
    """
    collection_losses = tf.compat.v1.losses.get_regularization_losses()
    loss_operations = ancestors([loss])
    terms = [
        term for term in (*collection_losses, *layers.losses()) if term.op not in loss_operations
    ]
    if not terms:
        return loss
    return tf.add_n([loss, *(tf.cast(term, loss.dtype) for term in terms)], name="total_loss")


def make_train_op(
    optimizer: Any, loss: tf.Tensor, layers: KerasLayers, cross_shard: bool
) -> tf.Operation:
    """Makes the training step: it minimizes, updates the layers, and counts the global step.

    Args:
      optimizer: a v1 or tf_keras optimizer.
      loss: a scalar.
      layers: the tf_keras layers of the model.
      cross_shard: whether to sum the gradients over the replicas.

    Returns:
      The operation.

    Raises:
      TypeError: `optimizer` is not an optimizer.
      ValueError: the loss depends on no trainable variable.
    """
    is_cross_shard = isinstance(
        optimizer, (CrossShardOptimizer, tf.compat.v1.tpu.CrossShardOptimizer)
    )
    if cross_shard and not is_cross_shard:
        optimizer = CrossShardOptimizer(optimizer)
    optimizer = as_graph_optimizer(optimizer)
    global_step = tf.compat.v1.train.get_or_create_global_step()
    frozen_refs = layers.frozen()
    variables = [v for v in tf.compat.v1.trainable_variables() if v.ref() not in frozen_refs]
    if not variables:
        raise ValueError(
            "No variables to optimize: inference made no trainable variable, or all belong to "
            "layers with trainable=False."
        )
    minimize = optimizer.minimize(loss, global_step, var_list=variables)
    collection_updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    updates = list({id(u): u for u in (*collection_updates, *layers.updates())}.values())
    if not _writes(minimize, global_step):  # hand-written optimizers often leave this to the model
        with tf.control_dependencies([minimize]):
            updates.append(global_step.assign_add(1, read_value=False))
    return tf.group(minimize, *updates, name="train_op")


def _writes(operation: tf.Operation, variable: tf.Variable) -> bool:
    return any(
        op.type not in _READS and any(tensor is variable.handle for tensor in op.inputs)
        for op in ancestors([operation])
    )
