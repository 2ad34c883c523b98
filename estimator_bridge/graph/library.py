"""The functions of a GraphDef's library: which node calls which, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["called_functions", "functions_where"]


def called_functions(node) -> set[str]:
    """Names that a NodeDef may call: functions in its attributes, and its own type.

    A legacy Defun is called by a node whose type is the function's name; the names of ordinary
    types are no functions of the library and are found in none.
    """
    names = {node.op}
    for attr in node.attr.values():
        kind = attr.WhichOneof("value")
        if kind == "func":
            names.add(attr.func.name)
        elif kind == "list":
            names.update(function.name for function in attr.list.func)
    return names


def functions_where(library, test: Callable[[Any], bool]) -> set[str]:
    """Names of the functions in which, at any depth of calls, a node passes a test."""
    found: set[str] = set()
    grew = True
    while grew:
        grew = False
        for function in library.function:
            name = function.signature.name
            if name not in found and any(
                test(node) or called_functions(node) & found for node in function.node_def
            ):
                found.add(name)
                grew = True
    return found
