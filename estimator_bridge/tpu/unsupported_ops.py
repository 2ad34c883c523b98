"""Operations of a TPU's feeding and embeddings, which steps here do not support."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.graph.user_line import line_of_node

__all__ = ["check_ops"]

# By part of an op type's name: what to do instead.
_INSTEAD = {
    "Infeed": "A step is fed by input_fn alone: return what it needs as features.",
    "Outfeed": "What the host is to see goes through host_call=(function, tensors).",
    "TPUEmbedding": (
        "TPU embeddings are not there: make the tables by tf.get_variable, and look them up by "
        "tf.nn.embedding_lookup."
    ),
    "TPUOrdinalSelector": "The strategy chooses the cores: leave it out.",
}


def check_ops(graph: tf.Graph) -> None:
    """Checks that a model has none of these operations.

    Raises:
      NotImplementedError: it has; names the operation, the program's line and what to use.
    """
    for operation in graph.get_operations():
        for part, instead in _INSTEAD.items():
            if part in operation.type:
                line = line_of_node(graph, operation.name)
                raise NotImplementedError(
                    f"The model has an operation that cannot run here: {operation.name!r} "
                    f"({operation.type}){f', made by {line}' if line else ''}. {instead}"
                )
