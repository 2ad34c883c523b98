"""Branches and loop bodies that change state, even when nothing reads their results.

The functions that tf.cond and tf.while_loop make in a plain graph declare no control outputs. Their
state changes run because a result waits for them, and the graph's session computes the results. In
a tf.function, a branch whose results are not read is called for its control outputs alone. Without
any, it would skip its assignments and summaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.op_kinds import DRAWS, READS, V1_CONTROL_FLOW
from estimator_bridge.tensorflow_private.names import op_def

__all__ = ["keep_branch_effects", "state_changes"]

_IDLE = READS | set(DRAWS)


def keep_branch_effects(graph_def: tf.compat.v1.GraphDef) -> None:
    """Declares control outputs for the state changes that a function's results wait for.

    Changes the graph in place. Each such function is copied under another name, because the runtime
    already knows the old one by its name, and callers call the copy.
    """
    library = graph_def.library
    if not library.function:
        return
    changing = functions_where(library, lambda node: _has_effect(node, set()))
    copies: dict[str, Any] = {}
    for function in library.function:
        if function.signature.name in changing:
            missing = _unnamed_effects(function, changing)
            if missing:
                copies[function.signature.name] = _with_control_outputs(function, missing)
    callers = [f for f in library.function if _called_by(f) & copies.keys()]
    while callers:  # a function that calls a copy has a changed body, so it is copied too
        for function in callers:
            name = function.signature.name
            copies.setdefault(name, _with_control_outputs(function, []))
        callers = [
            f
            for f in library.function
            if f.signature.name not in copies and _called_by(f) & copies.keys()
        ]
    library.function.extend(copies.values())
    names = {name: copy.signature.name for name, copy in copies.items()}
    for node in graph_def.node:
        _rename(node, names)
    for function in library.function:
        if function.signature.name in set(names.values()):
            for node in function.node_def:
                _rename(node, names)


def state_changes(library: Any) -> Callable[[Any], bool]:
    """Returns a predicate: does a NodeDef change state, by itself or in a function it calls?"""
    changing = functions_where(library, lambda node: _has_effect(node, set()))
    return lambda node: _has_effect(node, changing)


def _called_by(function: Any) -> set[str]:
    """Returns the names that the nodes of a function may call."""
    return set().union(*(called_functions(node) for node in function.node_def))


def _changes_state(node: Any) -> bool:
    definition = op_def(node.op)  # None for a function that is called by its name
    return definition is not None and definition.is_stateful and node.op not in _IDLE


def _unnamed_effects(function: Any, changing: set[str]) -> list[str]:
    """Returns undeclared nodes that change state and that a function's results wait for."""
    nodes = {node.name: node for node in function.node_def}
    if any(node.op in V1_CONTROL_FLOW for node in nodes.values()):
        return []  # a node of a dead branch never finishes, so nothing may wait for it
    declared_nodes = set(function.control_ret.values())
    sources = dict.fromkeys(_sources(function.ret.values(), nodes))
    worklist = [*sources, *declared_nodes]
    while worklist:
        for source in _sources(nodes[worklist.pop()].input, nodes):
            if source not in sources:
                sources[source] = None
                worklist.append(source)
    return [
        name
        for name, node in nodes.items()
        if name in sources and name not in declared_nodes and _has_effect(node, changing)
    ]


def _has_effect(node: Any, changing: set[str]) -> bool:
    """Returns whether a node changes state; a branch or loop does if one of its functions does."""
    if any(attr.HasField("func") or attr.list.func for attr in node.attr.values()):
        return bool(called_functions(node) & changing)
    return _changes_state(node)


def _sources(refs: Any, nodes: dict[str, Any]) -> Iterator[str]:
    """Yields the nodes behind references ('node:output:0', '^node'), skipping arguments."""
    for ref in refs:
        name = ref.lstrip("^").partition(":")[0]
        if name in nodes:
            yield name


def _with_control_outputs(function: Any, names: list[str]) -> Any:
    copy = type(function)()
    copy.CopyFrom(function)
    copy.signature.name += "_with_effects"
    for name in names:
        copy.control_ret[name] = name
        copy.signature.control_output.append(name)
    if names:
        copy.signature.is_stateful = True
    return copy


def _rename(node: Any, names: dict[str, str]) -> None:
    node.op = names.get(node.op, node.op)
    for attr in node.attr.values():
        kind = attr.WhichOneof("value")
        references = [attr.func] if kind == "func" else attr.list.func if kind == "list" else []
        for function in references:
            function.name = names.get(function.name, function.name)
