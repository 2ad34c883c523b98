"""Separates a part of a graph from the rest, and joins parts."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.graph_editor.reroute import (
    remove_control_inputs,
    reroute_inputs,
    reroute_ts,
    swap_inputs,
    swap_outputs,
)
from estimator_bridge_contrib.graph_editor.subgraph import SubGraphView, make_view
from estimator_bridge_contrib.graph_editor.util import (
    ControlOutputs,
    check_graphs,
    make_placeholder_from_tensor,
    placeholder_name,
)
from estimator_bridge_contrib.graph_editor.walks import check_cios

__all__ = [
    "bypass",
    "connect",
    "detach",
    "detach_control_inputs",
    "detach_control_outputs",
    "detach_inputs",
    "detach_outputs",
]


def detach_control_inputs(sgv: Any) -> None:
    """Lets the operations of a view wait for none outside."""
    view = make_view(sgv)
    for op in view.ops:
        remove_control_inputs(op, [each for each in op.control_inputs if each not in view.ops])


def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Lets no operation outside wait for one of a view.

    Args:
      sgv: the view, or what ``make_view`` accepts.
      control_outputs: the graph's.

    Raises:
      TypeError: control_outputs is another object.
    """
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = make_view(sgv)
    for op in view.ops:
        for waiting in control_outputs.get(op):
            if waiting not in view.ops:
                remove_control_inputs(waiting, op)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Any]]:
    """Puts placeholders in the place of a view's inputs.

    Args:
      sgv: the view, or what ``make_view`` accepts.
      control_inputs: whether it waits for nothing outside any more.

    Returns:
      The view, and the placeholders.
    """
    view = make_view(sgv)
    with view.graph.as_default():
        placeholders = [
            tf.compat.v1.placeholder(tensor.dtype, name=placeholder_name(tensor))
            for tensor in view.inputs
        ]
    swap_inputs(view, placeholders)
    if control_inputs:
        detach_control_inputs(view)
    return view, placeholders


def detach_outputs(
    sgv: Any, control_outputs: ControlOutputs | None = None
) -> tuple[SubGraphView, list[Any]]:
    """Lets the readers of a view's outputs read placeholders.

    Args:
      sgv: the view, or what ``make_view`` accepts.
      control_outputs: the graph's, if nothing outside shall wait for the view any more.

    Returns:
      The view with the outputs that were read, and the placeholders.
    """
    whole = make_view(sgv)
    view = whole.remap_outputs(
        [number for number, tensor in enumerate(whole.outputs) if tensor.consumers()]
    )
    readers = SubGraphView(view.consumers())
    readers = readers.remap_inputs(
        [number for number, tensor in enumerate(readers.inputs) if tensor in view.outputs]
    )
    with view.graph.as_default():
        placeholders = [make_placeholder_from_tensor(tensor) for tensor in readers.inputs]
    swap_outputs(view, placeholders)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, placeholders


def detach(
    sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[Any, list[Any], list[Any]]:
    """Separates a view from the rest of its graph.

    Args:
      sgv: the view, or what ``make_view`` accepts.
      control_inputs: whether it waits for nothing outside any more.
      control_outputs: a ControlOutputs, if nothing outside shall wait for it any more.
      control_ios: a ControlOutputs, for both.

    Returns:
      The view, the placeholders of its inputs, and those of its readers.
    """
    control_inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    _, inputs_detached = detach_inputs(sgv, control_inputs)
    _, outputs_detached = detach_outputs(sgv, outputs)
    return sgv, inputs_detached, outputs_detached


def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Makes the outputs of a view the inputs of another, and returns both.

    Args:
      sgv0: the view with the outputs.
      sgv1: the view with the inputs.
      disconnect_first: whether the readers of the outputs lose them.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    if disconnect_first:
        detach_outputs(first)
    reroute_inputs(SubGraphView(passthrough_ts=first.outputs), second)
    return first, second


def bypass(sgv: Any) -> tuple[SubGraphView, list[Any]]:
    """Lets the readers of a view's outputs read its inputs.

    Args:
      sgv: the view, or what ``make_view`` accepts; it has as many inputs as outputs.

    Returns:
      The view, and the placeholders of its inputs.
    """
    view = make_view(sgv)
    inputs = list(view.inputs)
    view, placeholders = detach_inputs(view)
    reroute_ts(inputs, view.outputs)
    return view, placeholders
