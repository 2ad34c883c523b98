"""Helpers of the rewrites: searches by name, the step counter, and changed inputs."""

from __future__ import annotations

import re
from collections.abc import Container

import tensorflow as tf

from estimator_bridge.tensorflow_private.graphs import replace_input

__all__ = [
    "SKIPPED_PREFIXES",
    "BatchNormGroups",
    "CreateOrGetQuantizationStep",
    "DropStringPrefix",
    "GetEndpointActivationOp",
    "RerouteTensor",
    "scope_of",
]

v1 = tf.compat.v1

# Names of operations of gradients, optimizers and summaries, which no rewrite concerns.
SKIPPED_PREFIXES = (
    "gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary",
)  # fmt: skip
_ACTIVATIONS = ("Relu6", "Relu", "Identity")
_STEP = "fake_quantization_step"
_BATCH_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")


def BatchNormGroups(graph: tf.Graph) -> list[str]:
    """Returns the prefixes of the names of the unfused batch norms, as "conv/", in graph order.

    Args:
      graph: the graph to search.
    """
    matches = (_BATCH_NORM.search(op.name) for op in graph.get_operations())
    prefixes = (match.group(1) for match in matches if match)
    return list(dict.fromkeys(each for each in prefixes if not each.startswith(SKIPPED_PREFIXES)))


def GetEndpointActivationOp(graph: tf.Graph, prefix: str) -> tf.Operation | None:
    """Returns the activation that ends a layer; None if it has none.

    Args:
      graph: the graph.
      prefix: what the operation's name has before "Relu6", "Relu" or "Identity".
    """
    for name in _ACTIVATIONS:
        try:
            return graph.get_operation_by_name(prefix + name)
        except KeyError:
            continue
    return None


def CreateOrGetQuantizationStep() -> tf.Tensor:
    """Returns the number of the current step of the default graph, counted from 1.

    Computing it adds 1 to the variable ``fake_quantization_step``, once a run of the graph.
    """
    graph = v1.get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        with graph.name_scope(None):
            step = v1.get_variable(
                _STEP,
                shape=[],
                dtype=tf.int64,
                initializer=v1.zeros_initializer(),
                trainable=False,
                collections=[v1.GraphKeys.GLOBAL_VARIABLES],
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
            with graph.name_scope(f"{step.op.name}/"):
                return tf.identity(v1.assign_add(step, 1))


def DropStringPrefix(s: str, prefix: str) -> str:
    """Returns a text without a prefix, if it has it."""
    return s[len(prefix) :] if s.startswith(prefix) else s


def RerouteTensor(
    t0: tf.Tensor, t1: tf.Tensor, can_modify: Container[tf.Operation] | None = None
) -> int:
    """Gives the consumers of a tensor another one.

    Args:
      t0: the new tensor.
      t1: the old tensor.
      can_modify: the operations that may be changed; None for all.

    Returns:
      The number of changed inputs.
    """
    uses = [
        (op, index)
        for op in t1.consumers()
        if can_modify is None or op in can_modify
        for index, tensor in enumerate(op.inputs)
        if tensor is t1
    ]
    for op, index in uses:
        replace_input(op, index, t0)
    return len(uses)


def scope_of(name: str) -> str:
    """Returns the scope of an operation's name: "a/b" of "a/b/c", and "" of "c"."""
    return name.rpartition("/")[0]
