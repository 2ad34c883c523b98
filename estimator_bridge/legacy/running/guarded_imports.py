"""Detects imports whose failure the module handles itself."""

from __future__ import annotations

import ast
import functools
import linecache

__all__ = ["is_guarded"]

_CATCHES = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}


def is_guarded(path: str, line: int) -> bool:
    """Returns whether a line is in a `try` that handles an ImportError.

    Args:
      path: the module's file.
      line: the line of the import.
    """
    return any(first <= line <= last for first, last in _guarded_lines(path))


@functools.lru_cache(maxsize=256)
def _guarded_lines(path: str) -> tuple[tuple[int, int], ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(path)))  # a notebook's cell is not a file
    except (SyntaxError, ValueError):
        return ()
    return tuple(
        (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and any(_catches(handler) for handler in node.handlers)
    )


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(kind, "id", getattr(kind, "attr", "")) in _CATCHES for kind in kinds)
