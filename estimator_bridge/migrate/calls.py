"""Helpers of rules for calls: their arguments, and edits of these."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Span
from estimator_bridge.migrate.module import Module

__all__ = ["add_keyword", "calls", "is_spread", "keyword", "methods_called", "rename_keyword"]


def calls(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """Yields a module's calls, each with the called function's known name, or ""."""
    for call in module.nodes(ast.Call):
        yield call, module.name_of(call.func)


def methods_called(module: Module, *names: str) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    """Yields the calls of methods, and of modules' functions, with one of the given names."""
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in names:
            yield call, call.func


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """Returns an argument that is given by name, or None."""
    return next((argument for argument in call.keywords if argument.arg == name), None)


def is_spread(call: ast.Call) -> bool:
    """Returns whether a call has ``*args`` or ``**kwargs``, which may hold anything."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        argument.arg is None for argument in call.keywords
    )


def rename_keyword(module: Module, argument: ast.keyword, name: str) -> Edit:
    """Returns the edit that renames an argument."""
    assert argument.arg is not None
    start = module.lines.span(argument).start
    return Edit(Span(start, start + len(argument.arg)), name)


def add_keyword(module: Module, call: ast.Call, text: str) -> Edit:
    """Returns the edit that adds an argument after the others; there must be at least one."""
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    last = max(module.lines.span(node).end for node in arguments)
    return Edit(Span(last, last), f", {text}")
