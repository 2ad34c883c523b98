"""Variables that the program intended as TensorFlow 1's reference variables.

With v2 behavior off, a variable is a buffer in its graph. Its tensor ``w:0``, the tensor
``w/read:0`` and every ``tf.identity`` of them are that buffer, not a copy. Fetching them returns
the buffer's content at the end of the run, so it includes the run's writes. A traced graph has
resource variables instead; this module resolves the names of those tensors in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import get_tpu_context

__all__ = [
    "TracedGraph",
    "add_reference",
    "end_read",
    "fetched_reference",
    "is_beside_reference",
    "reference_variables",
    "would_be_reference",
]

_READ = "/Read/ReadVariableOp"  # the read of each resource variable, unused by models
# Ops that pass on the buffer of their input.
PASSES_BUFFER = frozenset({"Identity", "StopGradient", "PreventGradient"})


class TracedGraph(tf.Graph):
    """A graph that resolves the tensor names of reference variables to their values.

    Attributes:
      references: names of the reference variables' nodes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.references: set[str] = set()

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """Returns what tf.Graph returns, but the values for ``w:0`` and ``w/read`` of references.

        Args:
          obj: a tensor, an operation, an object that stands for one, or a name.
          allow_tensor: whether it may be a tensor.
          allow_operation: whether it may be an operation.
        """
        if isinstance(obj, str) and self.references:
            obj = self._name_here(obj)
        return super().as_graph_element(obj, allow_tensor, allow_operation)

    def _name_here(self, name: str) -> str:
        node, colon, output = name.partition(":")
        of = node[: -len("/read")] if node.endswith("/read") else node if colon else ""
        return f"{of}{_READ}{colon}{output}" if of in self.references else name


def reference_variables(graph: tf.Graph) -> Set[str]:
    """Returns the names of a graph's nodes that represent reference variables."""
    return getattr(graph, "references", frozenset())


def would_be_reference(arguments: Mapping[str, Any]) -> bool:
    """Returns whether a variable would be a reference variable outside a trace.

    Args:
      arguments: the arguments of the variable's creator.
    """
    if tf.compat.v1.resource_variables_enabled():
        return False
    use_resource = arguments.get("use_resource")
    if use_resource is None:
        use_resource = tf.compat.v1.get_variable_scope().use_resource
    # On TPU cores and under strategies all variables were resources.
    is_replicated = get_tpu_context().number_of_shards is not None or tf.distribute.has_strategy()
    return not (use_resource or is_replicated)


def add_reference(variable: tf.Variable) -> None:
    """Records in a variable's graph that it represents a reference variable."""
    if isinstance(variable.graph, TracedGraph):
        variable.graph.references.add(variable.op.name)


def is_beside_reference(variable: tf.Variable) -> bool:
    """Returns whether an optimizer made a variable for a reference variable.

    Slots, and Adam's powers of beta, are of the same kind as their weight: in a trace a resource,
    whatever the weight represents. They are colocated with the weight.

    Args:
      variable: a variable of a traced graph.
    """
    references = reference_variables(variable.graph)
    if not references:
        return False
    groups = variable.op.colocation_groups()
    return any(group.decode().partition("@")[2] in references for group in groups)


def end_read(variable: str) -> str:
    """Returns the node that reads a reference variable at the end of a run."""
    return variable + _READ


def fetched_reference(tensor: tf.Tensor) -> tuple[str, bool] | None:
    """Returns the reference variable whose buffer a tensor is.

    Args:
      tensor: a tensor of a traced graph.

    Returns:
      The name of the variable's node, and whether the tensor waits for anything; None for any
      other tensor.
    """
    references = reference_variables(tensor.graph)
    waits, op = False, tensor.op
    while references:
        waits = waits or bool(op.control_inputs)
        if op.type == "ReadVariableOp":
            owner = op.inputs[0].op.name
            return (owner, waits) if owner in references else None
        if op.type not in PASSES_BUFFER:
            break
        op = op.inputs[0].op
    return None
