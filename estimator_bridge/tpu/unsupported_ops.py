"""Operations of a TPU's infeed, outfeed and embeddings, which a model_fn cannot use."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.graph.user_line import line_of_node

__all__ = ["check_ops"]

# By part of an op type's name: the alternative.
_INSTEAD = {
    "Infeed": "Only input_fn feeds a step. Return the tensors from input_fn as features.",
    "Outfeed": "Pass tensors to the host with host_call=(function, tensors).",
    "TPUEmbedding": (
        "The operations of TPU embeddings are not supported. Create the tables with "
        "tf.get_variable, and read them with tf.nn.embedding_lookup."
    ),
    "TPUOrdinalSelector": "The strategy chooses the cores. Leave out the operation.",
}


def check_ops(graph: tf.Graph) -> None:
    """Checks that a model has none of the unsupported operations.

    Raises:
      NotImplementedError: the model has one. The message names the operation, the program's line
        and the alternative.
    """
    for operation in graph.get_operations():
        for part, instead in _INSTEAD.items():
            if part in operation.type:
                line = line_of_node(graph, operation.name)
                raise NotImplementedError(
                    f"The model has an operation that cannot run here: {operation.name!r} "
                    f"({operation.type}){f', made by {line}' if line else ''}. {instead}"
                )
