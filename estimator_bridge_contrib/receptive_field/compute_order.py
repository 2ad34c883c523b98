"""The order in which a convolutional network is computed, and the sizes of its images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from estimator_bridge_contrib.receptive_field.windows import windows_of

__all__ = ["NodeInfo", "get_compute_order", "inputs_of"]


class NodeInfo(NamedTuple):
    """An operation's place in the order.

    Attributes:
      order: the largest number of operations on a way to it.
      node: its NodeDef.
      input_size: the height and width of its first input, or None.
      output_size: those of its output, or None.
    """

    order: int
    node: Any
    input_size: Sequence[int | None] | None
    output_size: Sequence[int | None] | None


def inputs_of(node: Any) -> list[str]:
    """Returns the names of the operations that one reads; it waits for others too."""
    return [name.partition(":")[0] for name in node.input if not name.startswith("^")]


def get_compute_order(
    graph_def: Any, input_node_name: str = "", input_node_size: Sequence[int] | None = None
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """Orders the operations of a network.

    Args:
      graph_def: the network's GraphDef.
      input_node_name: the operation that makes images, where the order begins.
      input_node_size: the height and width of the images; None if they are not known.

    Returns:
      The operations' places by name, and their NodeDefs by name.
    """
    nodes = {node.name: node for node in graph_def.node}
    infos: dict[str, NodeInfo] = {}
    for name in nodes:
        for each in _unplaced(name, nodes, infos, input_node_name):
            if each == input_node_name:
                infos[each] = NodeInfo(0, nodes[each], None, input_node_size)
            else:
                infos[each] = _place(nodes[each], nodes, infos)
    return infos, nodes


def _unplaced(
    name: str, nodes: dict[str, Any], infos: dict[str, NodeInfo], start: str
) -> Iterator[str]:
    """Yields an operation and those that it depends on, each after what it reads."""
    waiting = [(name, False)]
    while waiting:
        current, is_ready = waiting.pop()
        if current in infos:
            continue
        if is_ready or current == start:
            yield current
            continue
        waiting.append((current, True))
        waiting.extend((each, False) for each in reversed(inputs_of(nodes[current])))


def _place(node: Any, nodes: dict[str, Any], infos: dict[str, NodeInfo]) -> NodeInfo:
    before = [infos[name] for name in inputs_of(node)]
    order = max((each.order + 1 for each in before), default=0)
    size = before[0].output_size if before else None
    if size is None:
        return NodeInfo(order, node, None, None)
    windows = windows_of(node, nodes, size) or (None, None)
    sizes = [window and window.places(length) for window, length in zip(windows, size)]
    return NodeInfo(order, node, size, sizes)
