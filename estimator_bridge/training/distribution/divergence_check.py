"""Checks that the weights of all replicas stay equal."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.graph import Resources, diverging_variables

__all__ = ["check_no_divergence"]


def check_no_divergence(
    graph: tf.Graph, operations: Sequence[str], replicas: int, of: str = "train_distribute"
) -> None:
    """Checks that a training step writes the same values to the weights of all replicas.

    Args:
      graph: the traced graph.
      operations: the operations of a step, each as '^name'.
      replicas: the number of replicas.
      of: the source of that number, for the message.

    Raises:
      ValueError: a trainable variable is assigned a value that depends on one replica's batch.
    """
    if replicas == 1:
        return
    diverging = diverging_variables(graph, operations, Resources.owners_in(graph))
    weights = {variable.op.name for variable in tf.compat.v1.trainable_variables()}
    drifting = [name for name in diverging if name in weights]
    if drifting:
        some = ", ".join(repr(name) for name in drifting[:5])
        raise ValueError(
            f"The {replicas} replicas of {of} would drift apart: {len(drifting)} of "
            f"{len(weights)} trainable variables ({some}{', ...' if drifting[5:] else ''}) are "
            "given values that each replica computes from its own batch, the first by operation "
            f"{diverging[drifting[0]]!r}. A hand-written optimizer has to add up the replicas' "
            "gradients before it uses them: gradients = tf.distribute.get_replica_context()"
            ".all_reduce(tf.distribute.ReduceOp.SUM, gradients). The apply_gradients of "
            "TensorFlow's own optimizers does so."
        )
