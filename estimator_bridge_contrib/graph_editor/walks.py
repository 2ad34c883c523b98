"""Walks through a graph along its edges, and the boundary of a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.graph_editor.util import (
    ControlOutputs,
    concatenate_unique,
    get_consuming_ops,
    holds,
    is_iterable,
    make_list_of_op,
    make_list_of_t,
)

__all__ = [
    "check_cios",
    "compute_boundary_ts",
    "get_backward_walk_ops",
    "get_forward_walk_ops",
    "get_ops_ios",
    "get_walks_intersection_ops",
    "get_walks_union_ops",
    "get_within_boundary_ops",
    "read_tensors",
]

_Controls = ControlOutputs | None


def read_tensors(ops: Iterable[Any]) -> list[Any]:
    """Returns the tensors that operations read."""
    return concatenate_unique([], [tensor for op in ops for tensor in op.inputs])


def check_cios(
    control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> tuple[bool, _Controls]:
    """Returns which control edges are followed, from three arguments that say so.

    Args:
      control_inputs: whether an operation leads to those that it waits for.
      control_outputs: a ControlOutputs, by which it leads to those that wait for it.
      control_ios: a ControlOutputs, for both directions.

    Raises:
      TypeError: another object is given.
      ValueError: control_outputs and control_ios are given.
    """
    for argument in (control_ios, control_outputs):
        if argument is not None and not isinstance(argument, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(argument)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def get_ops_ios(
    ops: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None
) -> list[Any]:
    """Returns the operations that are connected with some others.

    Args:
      ops: operations, or a graph.
      control_inputs: see ``check_cios``.
      control_outputs: see ``check_cios``.
      control_ios: see ``check_cios``.
    """
    control_inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    neighbors: list[Any] = []
    for op in make_list_of_op(ops):
        concatenate_unique(neighbors, [tensor.op for tensor in op.inputs])
        for tensor in op.outputs:
            concatenate_unique(neighbors, tensor.consumers())
        if outputs is not None:
            concatenate_unique(neighbors, outputs.get(op))
        if control_inputs:
            concatenate_unique(neighbors, op.control_inputs)
    return neighbors


def compute_boundary_ts(ops: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Returns the tensors that enter a part of a graph, that leave it, and that are inside.

    A tensor that is read inside and outside is in the second list and in the third.

    Args:
      ops: the operations of the part.
    """
    op_list = make_list_of_op(ops)
    part = set(op_list)
    inputs, outputs = read_tensors(op_list), [tensor for op in op_list for tensor in op.outputs]
    entering = [tensor for tensor in inputs if tensor.op not in part]
    inside = [tensor for tensor in inputs if tensor.op in part]
    hidden = {id(tensor) for tensor in inside if set(tensor.consumers()) <= part}
    return entering, [tensor for tensor in outputs if id(tensor) not in hidden], inside


def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Returns the operations that are reached from seeds without crossing a boundary.

    Args:
      ops: the operations to choose from, or a graph.
      seed_ops: the operations to start from.
      boundary_ops: the operations at which the walk stops.
      inclusive: whether a boundary that is reached belongs to the result.
      control_inputs: see ``check_cios``.
      control_outputs: see ``check_cios``.
      control_ios: see ``check_cios``.

    Raises:
      ValueError: a seed is on the boundary.
    """
    control_inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    region = set(make_list_of_op(seed_ops, allow_graph=False))
    boundary = set(make_list_of_op(boundary_ops))
    if boundary & region:
        raise ValueError("Boundary is intersecting with the seeds.")
    wave = set(region)
    while wave:
        reached = set(get_ops_ios(wave, control_inputs, outputs)) - region
        if inclusive:
            region |= reached & boundary
        wave = reached - boundary
        region |= wave
    return [op for op in make_list_of_op(ops) if op in region]


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Any], Any] | None = None,
    stop_at_ts: Any = (),
    control_outputs: Any = None,
) -> list[Any]:
    """Returns the operations that depend on seeds.

    Args:
      seed_ops: operations; or tensors, whose readers are the seeds.
      inclusive: whether the seeds belong to the result.
      within_ops: the walk stays within these operations.
      within_ops_fn: the walk stays where this function of an operation is true.
      stop_at_ts: tensors that the walk does not follow.
      control_outputs: a ControlOutputs, whose edges are followed too.

    Raises:
      TypeError: another object is given.
    """
    _, outputs = check_cios(False, control_outputs)
    seeds = _seeds(seed_ops, get_consuming_ops)
    stops = make_list_of_t(stop_at_ts)

    def after(op: Any) -> list[Any]:
        tensors = [tensor for tensor in op.outputs if not holds(stops, tensor)]
        readers = [reader for tensor in tensors for reader in tensor.consumers()]
        return readers + list(outputs.get(op) if outputs is not None else ())

    return _walk(seeds, inclusive, within_ops, within_ops_fn, after)


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Any], Any] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Any]:
    """Returns the operations that seeds depend on.

    Args:
      seed_ops: operations; or tensors, whose operations are the seeds.
      inclusive: whether the seeds belong to the result.
      within_ops: the walk stays within these operations.
      within_ops_fn: the walk stays where this function of an operation is true.
      stop_at_ts: tensors that the walk does not follow.
      control_inputs: whether operations that others wait for belong to it.

    Raises:
      TypeError: another object is given.
    """
    seeds = _seeds(seed_ops, lambda tensors: [tensor.op for tensor in tensors])
    stops = make_list_of_t(stop_at_ts)

    def before(op: Any) -> list[Any]:
        producers = [tensor.op for tensor in op.inputs if not holds(stops, tensor)]
        return producers + list(op.control_inputs if control_inputs else ())

    return _walk(seeds, inclusive, within_ops, within_ops_fn, before)


def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Any], Any] | None = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Returns the operations between some and others.

    Args:
      forward_seed_ops: where the forward walk starts; see ``get_forward_walk_ops``.
      backward_seed_ops: where the backward walk starts; see ``get_backward_walk_ops``.
      forward_inclusive: whether the first seeds belong to the result.
      backward_inclusive: whether the second seeds belong to the result.
      within_ops: the walks stay within these operations.
      within_ops_fn: the walks stay where this function of an operation is true.
      control_inputs: see ``check_cios``.
      control_outputs: see ``check_cios``.
      control_ios: see ``check_cios``.
    """
    ahead, back = _both_walks(
        (forward_seed_ops, forward_inclusive), (backward_seed_ops, backward_inclusive),
        (within_ops, within_ops_fn), (control_inputs, control_outputs, control_ios),
    )  # fmt: skip
    both = set(back)
    return [op for op in ahead if op in both]


def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Any], Any] | None = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> list[Any]:
    """Returns the operations of a forward walk and of a backward walk.

    Args:
      forward_seed_ops: where the forward walk starts; see ``get_forward_walk_ops``.
      backward_seed_ops: where the backward walk starts; see ``get_backward_walk_ops``.
      forward_inclusive: whether the first seeds belong to the result.
      backward_inclusive: whether the second seeds belong to the result.
      within_ops: the walks stay within these operations.
      within_ops_fn: the walks stay where this function of an operation is true.
      control_inputs: see ``check_cios``.
      control_outputs: see ``check_cios``.
      control_ios: see ``check_cios``.
    """
    ahead, back = _both_walks(
        (forward_seed_ops, forward_inclusive), (backward_seed_ops, backward_inclusive),
        (within_ops, within_ops_fn), (control_inputs, control_outputs, control_ios),
    )  # fmt: skip
    return concatenate_unique(ahead, back)


def _both_walks(
    forward: tuple[Any, bool],
    backward: tuple[Any, bool],
    within: tuple[Any, Any],
    control: tuple[Any, Any, Any],
) -> tuple[list[Any], list[Any]]:
    """Returns what is ahead of the one seeds, and what is behind the others."""
    control_inputs, control_outputs = check_cios(*control)
    return (
        get_forward_walk_ops(*forward, *within, control_outputs=control_outputs),
        get_backward_walk_ops(*backward, *within, (), control_inputs),
    )


def _seeds(source: Any, of_tensors: Callable[[list[Any]], list[Any]]) -> list[Any]:
    elements = list(source) if is_iterable(source) else [source]
    if elements and isinstance(elements[0], tf.Tensor):
        return of_tensors(make_list_of_t(elements, allow_graph=False))
    return make_list_of_op(elements, allow_graph=False)


def _walk(
    seeds: Sequence[Any],
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Callable[[Any], Any] | None,
    step: Callable[[Any], list[Any]],
) -> list[Any]:
    """Returns the operations that steps reach, in the order of the steps' waves."""
    allowed = set(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None
    start = [op for op in dict.fromkeys(seeds) if allowed is None or op in allowed]
    walk = dict.fromkeys(start)
    wave = list(start)
    while wave:
        reached = dict.fromkeys(each for op in wave for each in step(op))
        wave = [
            op
            for op in reached
            if op not in walk
            and (allowed is None or op in allowed)
            and (within_ops_fn is None or within_ops_fn(op))
        ]
        walk.update(dict.fromkeys(wave))
    first = set(start)
    return [op for op in walk if inclusive or op not in first]
