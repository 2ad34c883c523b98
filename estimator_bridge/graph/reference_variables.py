"""Variables that the program meant as TensorFlow 1's reference variables.

With v2 behaviour off a variable is a buffer in its graph, and its tensor ``w:0``, the tensor
``w/read:0`` and every ``tf.identity`` of them are that buffer, not a copy. What is fetched of them
is looked at when the run is over, so it shows what the run has written. A traced graph has resource
variables in their place; it keeps their names, and here is what a program finds under the names.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private import get_tpu_context

__all__ = [
    "TracedGraph",
    "add_reference",
    "end_read",
    "fetched_reference",
    "is_beside_reference",
    "reference_variables",
    "would_be_reference",
]

_READ = "/Read/ReadVariableOp"  # which each resource variable has, and nothing in a model uses
# What hands on the buffer that it is given.
PASSES_BUFFER = frozenset({"Identity", "StopGradient", "PreventGradient"})


class TracedGraph(tf.Graph):
    """A graph that finds reference variables' values under the names of their tensors.

    Attributes:
      references: the names of their nodes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.references: set[str] = set()

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """tf.Graph's, which would give a resource's handle for ``w:0``, and nothing for ``w/read``.

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
    """The names of a graph's nodes that stand for reference variables."""
    return getattr(graph, "references", frozenset())


def would_be_reference(arguments: Mapping[str, Any]) -> bool:
    """Whether a variable would be a reference variable outside of a trace.

    Args:
      arguments: those of its creator.
    """
    if tf.compat.v1.resource_variables_enabled():
        return False
    wanted = arguments.get("use_resource")
    if wanted is None:
        wanted = tf.compat.v1.get_variable_scope().use_resource
    # On cores and under strategies all variables were resources.
    is_replicated = get_tpu_context().number_of_shards is not None or tf.distribute.has_strategy()
    return not (wanted or is_replicated)


def add_reference(variable: tf.Variable) -> None:
    """Tells a variable's graph that it stands for a reference variable."""
    if isinstance(variable.graph, TracedGraph):
        variable.graph.references.add(variable.op.name)


def is_beside_reference(variable: tf.Variable) -> bool:
    """Returns whether an optimizer made a variable for a reference variable.

    A slot, and Adam's powers of beta, are made of the kind that their weight is of: in a trace a
    resource, whatever it stands for. They are colocated with it.

    Args:
      variable: of a traced graph.
    """
    references = reference_variables(variable.graph)
    if not references:
        return False
    groups = variable.op.colocation_groups()
    return any(group.decode().partition("@")[2] in references for group in groups)


def end_read(variable: str) -> str:
    """The node that reads a reference variable when everything else of a run is done."""
    return variable + _READ


def fetched_reference(tensor: tf.Tensor) -> tuple[str, bool] | None:
    """The reference variable whose buffer a tensor is.

    Args:
      tensor: of a traced graph.

    Returns:
      The name of the variable's node, and whether the tensor waits for anything; None where it is
      another tensor.
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
