"""Finds the calls that make batches, and their sizes: the common part of the rules for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import is_spread, keyword, methods_called
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.tpu_functions import Function

__all__ = ["batch_calls", "batch_size"]

_METHODS = ("batch", "padded_batch", "map_and_batch")


def batch_calls(
    module: Module, functions: list[Function]
) -> Iterator[tuple[ast.Call, ast.Attribute, Function]]:
    """Yields the calls that make batches in some functions, each with its innermost function."""
    functions = sorted(functions, key=lambda function: function.lineno, reverse=True)
    for call, method in methods_called(module, *_METHODS):
        around = next(
            (f for f in functions if f.lineno <= call.lineno <= (f.end_lineno or 0)), None
        )
        if around is not None and not is_spread(call):
            yield call, method, around


def batch_size(call: ast.Call) -> ast.expr | None:
    """Returns the size that such a call is given, or None."""
    argument = keyword(call, "batch_size")
    if argument is not None:
        return argument.value
    place = int(call.func.attr == "map_and_batch")  # type: ignore[attr-defined]
    return call.args[place] if len(call.args) > place else None
