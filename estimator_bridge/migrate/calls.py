"""Calls as rules see them: their arguments, and edits of these."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.values import Edit, Span

__all__ = ["added_keyword", "calls", "is_spread", "keyword", "methods_called", "renamed_keyword"]


def calls(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """The calls of a module, each with the known name of what is called; "" where it has none."""
    for call in module.nodes(ast.Call):
        yield call, module.name_of(call.func)


def methods_called(module: Module, *names: str) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """The calls of methods, and of functions of modules, that have one of some names."""
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in names:
            yield call, call.func


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """An argument that is given by its name."""
    return next((given for given in call.keywords if given.arg == name), None)


def is_spread(call: ast.Call) -> bool:
    """Whether a call has ``*args`` or ``**kwargs``, in which anything may be."""
    return any(isinstance(given, ast.Starred) for given in call.args) or any(
        given.arg is None for given in call.keywords
    )


def renamed_keyword(module: Module, given: ast.keyword, name: str) -> Edit:
    """The edit that gives an argument another name."""
    assert given.arg is not None
    start = module.lines.span(given).start
    return Edit(Span(start, start + len(given.arg)), name)


def added_keyword(module: Module, call: ast.Call, text: str) -> Edit:
    """The edit that adds an argument behind the others, of which there must be one."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    last = max(module.lines.span(node).end for node in given)
    return Edit(Span(last, last), f", {text}")
