"""A checkpoint's objects as a graph in the language DOT, which Graphviz draws."""

from __future__ import annotations

from typing import Any

from estimator_bridge.checkpoint.any_checkpoints import reader_of
from estimator_bridge.tensorflow_private.tracking import object_checkpoints

__all__ = ["dot_graph_from_checkpoint"]

_VALUE = "VARIABLE_VALUE"


def dot_graph_from_checkpoint(save_path: str) -> str:
    """Describes a checkpoint's objects and their names for each other.

    Args:
      save_path: the path of an object-based checkpoint, as ``Checkpoint.save`` returns it.

    Returns:
      A graph in DOT: points for objects, blue ones for variables, with their shapes as tooltips,
      and dashed lines to optimizers' slots.

    Raises:
      ValueError: the checkpoint has no objects, as those of tf.train.Saver.
    """
    reader = reader_of(save_path)
    nodes = object_checkpoints.object_metadata(save_path).nodes
    lines = ["digraph {"]
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    for number, node in enumerate(nodes):
        lines.append(f'N_{number} [shape=point label="" {_looks(node, reader, number in slots)}]')
        lines += [f'N_{number} -> N_{child.node_id} [label="{child.local_name}"]'
                  for child in node.children]  # fmt: skip
        lines += [
            f"N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id} "
            f'[label="{slot.slot_name}" style=dashed]'
            for slot in node.slot_variables
        ]
    return "\n".join([*lines, "}\n"])


def _looks(node: Any, reader: Any, is_slot: bool) -> str:
    for attribute in node.attributes:
        if attribute.name == _VALUE:
            key = attribute.checkpoint_key
            shape = reader.get_variable_to_shape_map()[key]
            dtype = reader.get_variable_to_dtype_map()[key].name
            tooltip = f"Variable {attribute.full_name} shape={shape} {dtype}"
            color = "orange" if is_slot else "blue"
            return f'color={color} width=.25 tooltip="{tooltip}"'
    return "width=.25"
