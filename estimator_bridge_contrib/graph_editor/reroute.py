"""Connects operations with other tensors than they were made with."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.graphs import replace_control_inputs, replace_input
from estimator_bridge_contrib.graph_editor.subgraph import SubGraphView, make_view
from estimator_bridge_contrib.graph_editor.util import (
    check_graphs,
    get_consuming_ops,
    make_list_of_op,
    make_list_of_t,
)

__all__ = [
    "add_control_inputs",
    "remove_control_inputs",
    "reroute_inputs",
    "reroute_ios",
    "reroute_outputs",
    "reroute_ts",
    "swap_inputs",
    "swap_ios",
    "swap_outputs",
    "swap_ts",
]

_Views = tuple[SubGraphView, SubGraphView]


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets the readers of each tensor read the other one of its pair.

    Args:
      ts0: tensors.
      ts1: as many tensors, of the same types and shapes.
      can_modify: only these operations are changed.
      cannot_modify: these operations are not changed.

    Returns:
      The number of inputs that were changed.

    Raises:
      TypeError: another object is given.
      ValueError: the tensors do not fit each other.
    """
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets the readers of ts1 read ts0.

    Args:
      ts0: tensors.
      ts1: as many tensors, of the same types and shapes.
      can_modify: only these operations are changed.
      cannot_modify: these operations are not changed.

    Returns:
      The number of inputs that were changed.

    Raises:
      TypeError: another object is given.
      ValueError: the tensors do not fit each other.
    """
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


def swap_inputs(sgv0: Any, sgv1: Any) -> _Views:
    """Exchanges the inputs of two views, and returns them."""
    return _reroute_view_inputs(sgv0, sgv1, True)


def reroute_inputs(sgv0: Any, sgv1: Any) -> _Views:
    """Gives a view the inputs of sgv0 instead of its own, and returns both."""
    return _reroute_view_inputs(sgv0, sgv1, False)


def swap_outputs(sgv0: Any, sgv1: Any) -> _Views:
    """Exchanges the readers of the outputs of two views, and returns them."""
    return _reroute_view_outputs(sgv0, sgv1, True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> _Views:
    """Lets the readers of the outputs of sgv1 read those of sgv0, and returns both."""
    return _reroute_view_outputs(sgv0, sgv1, False)


def swap_ios(sgv0: Any, sgv1: Any) -> _Views:
    """Exchanges the inputs of two views, and the readers of their outputs."""
    swap_outputs(sgv0, sgv1)
    return swap_inputs(sgv0, sgv1)


def reroute_ios(sgv0: Any, sgv1: Any) -> _Views:
    """Gives sgv1 the inputs of sgv0, and the readers of its outputs those of sgv0."""
    reroute_outputs(sgv0, sgv1)
    return reroute_inputs(sgv0, sgv1)


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Lets an operation no longer wait for some others.

    Args:
      op: the operation.
      cops: those that it waits for.

    Raises:
      TypeError: another object is given.
      ValueError: it does not wait for one.
    """
    removed = _control_inputs(op, cops)
    for each in removed:
        if each not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {each.name}")
    replace_control_inputs(op, [each for each in op.control_inputs if each not in removed])


def add_control_inputs(op: Any, cops: Any) -> None:
    """Lets an operation wait for some others.

    Args:
      op: the operation.
      cops: those that it shall wait for.

    Raises:
      TypeError: another object is given.
      ValueError: it waits for one already.
    """
    added = _control_inputs(op, cops)
    for each in added:
        if each in op.control_inputs:
            raise ValueError(f"{each.name} is already a control_input of {op.name}")
    replace_control_inputs(op, [*op.control_inputs, *added])


def _control_inputs(op: Any, cops: Any) -> list[Any]:
    if not isinstance(op, tf.Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    return make_list_of_op(cops, allow_graph=False)


def _reroute(ts0: Any, ts1: Any, both_ways: bool, can_modify: Any, cannot_modify: Any) -> int:
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    _check_fit(first, second)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    refused = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    # All readers are noted before the first change.
    changes = [
        (instead, op, number)
        for a, b in zip(first, second)
        if a is not b
        for instead, tensor in ((a, b), (b, a))[: 2 if both_ways else 1]
        for op in dict.fromkeys(tensor.consumers())
        if (allowed is None or op in allowed) and op not in refused
        for number, op_input in enumerate(op.inputs)
        if op_input is tensor
    ]
    for instead, op, number in changes:
        replace_input(op, number, instead)
    return len(changes)


def _check_fit(first: list[Any], second: list[Any]) -> None:
    if len(first) != len(second):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}")
    for a, b in zip(first, second):
        if not a.dtype.is_compatible_with(b.dtype):
            raise ValueError(f"Dtypes {a.dtype} and {b.dtype} are not compatible.")
        if not a.shape.is_compatible_with(b.shape):
            raise ValueError(f"Shapes {a.shape} and {b.shape} are not compatible.")


def _reroute_view_inputs(sgv0: Any, sgv1: Any, both_ways: bool) -> _Views:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    inside = first.ops + second.ops
    passing = get_consuming_ops(first.passthroughs) + get_consuming_ops(second.passthroughs)
    _reroute(first.inputs, second.inputs, both_ways, inside + passing, None)
    changed = [_with_inputs_of(first, second)]
    if both_ways:
        changed.append(_with_inputs_of(second, first))
    for view, replacement in zip((second, first), changed):
        view.assign_from(replacement)
    return first, second


def _with_inputs_of(giver: SubGraphView, view: SubGraphView) -> SubGraphView:
    """Returns a view with another's inputs; an output that passed through follows its input."""
    outputs = []
    for tensor in view.outputs:
        place = _place(tensor, view.inputs) if view.is_passthrough(tensor) else None
        outputs.append(giver.inputs[place] if place is not None else tensor)
    return view.with_ends(giver.inputs, outputs, giver.passthroughs)


def _place(tensor: Any, among: Any) -> int | None:
    return next((number for number, each in enumerate(among) if each is tensor), None)


def _reroute_view_outputs(sgv0: Any, sgv1: Any, both_ways: bool) -> _Views:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    _reroute(first.outputs, second.outputs, both_ways, None, first.ops + second.ops)
    return first, second
