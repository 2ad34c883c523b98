"""The functions of a GraphDef's library: which nodes call them, and what they contain."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from estimator_bridge.tensorflow_private.names import eager_context, op_def

__all__ = ["called_functions", "functions_where", "needed_functions", "register_functions"]


def called_functions(node: Any) -> set[str]:
    """Returns the names that a NodeDef may call: functions in its attributes, and its own type.

    A legacy Defun is called by a node whose type is the function's name. Names of ordinary op types
    are harmless, as no library has functions of these names.
    """
    names = {node.op}
    if not _takes_functions(node.op):
        return names
    for attr in node.attr.values():
        kind = attr.WhichOneof("value")
        if kind == "func":
            names.add(attr.func.name)
        elif kind == "list":
            names.update(function.name for function in attr.list.func)
    return names


@functools.cache
def _takes_functions(op: str) -> bool:
    """Returns whether nodes of a type may have function attributes; saves a look at each node."""
    definition = op_def(op)
    return definition is None or any("func" in attr.type for attr in definition.attr)


def functions_where(library: Any, test: Callable[[Any], bool]) -> set[str]:
    """Returns the names of functions that contain a node passing a test, at any depth of calls."""
    names: set[str] = set()
    grew = True
    while grew:
        grew = False
        for function in library.function:
            name = function.signature.name
            if name not in names and any(
                test(node) or called_functions(node) & names for node in function.node_def
            ):
                names.add(name)
                grew = True
    return names


def needed_functions(library: Any, nodes: Iterable[Any]) -> Any:
    """Returns the part of a library that some nodes need, at any depth of calls."""
    functions = {f.signature.name: f for f in library.function}
    gradients = {g.function_name: g for g in library.gradient}
    part = type(library)()
    if not (functions or gradients):
        return part
    names: set[str] = set()
    worklist = list(nodes)
    while worklist:
        callees = called_functions(worklist.pop())
        callees |= {gradients[name].gradient_func for name in callees & gradients.keys()}
        for name in (callees & functions.keys()) - names:
            names.add(name)
            worklist += functions[name].node_def
    part.function.extend(f for name, f in functions.items() if name in names)
    part.gradient.extend(g for name, g in gradients.items() if name in names)
    return part


def register_functions(library: Any) -> None:
    """Registers functions with the eager runtime, as tf.function does with its own.

    A function that a program made by tf.function or tf.cond is registered already; one that was
    imported from a file, or copied for a replica, is not.
    """
    runtime = eager_context()
    runtime.ensure_initialized()
    for function in library.function:
        if not runtime.has_function(function.signature.name):
            runtime.add_function_def(function)
