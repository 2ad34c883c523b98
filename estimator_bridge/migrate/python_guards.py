"""Recognizes code that a program reserves for Python 2."""

from __future__ import annotations

import ast

from estimator_bridge.migrate.module import Module

__all__ = ["is_python2_only"]


def is_python2_only(module: Module, node: ast.AST) -> bool:
    """Returns whether a node is in code for Python 2.

    Args:
      module: the node's module.
      node: the node.

    Returns:
      True below `if six.PY2:` and the tests of `sys.version_info` that mean the same, and after the
      `else` of `if six.PY3:`.
    """
    while node in module.parents:
        child, node = node, module.parents[node]
        if not isinstance(node, (ast.If, ast.IfExp)) or child is node.test:
            continue
        orelse = node.orelse if isinstance(node.orelse, list) else [node.orelse]
        if _asks_for(module, node.test, 3 if child in orelse else 2):
            return True
    return False


def _asks_for(module: Module, test: ast.expr, version: int) -> bool:
    """Returns whether a test is true only under the given major version, 2 or 3."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks_for(module, test.operand, 5 - version)
    name = _name(module, test)
    if name in ("six.PY2", "six.PY3"):
        return name == f"six.PY{version}"
    if not isinstance(test, ast.Compare) or not _is_version(module, test.left):
        return False
    try:
        limit = ast.literal_eval(test.comparators[0])
    except ValueError:
        return False
    if isinstance(limit, tuple):
        limit = limit[0] if limit else 0
    kind = type(test.ops[0])
    if kind is ast.Eq:
        return bool(limit == version)
    is_below_3 = (kind is ast.Lt and limit == 3) or (kind is ast.LtE and limit == 2)
    is_from_3 = (kind is ast.GtE and limit == 3) or (kind is ast.Gt and limit == 2)
    return is_below_3 if version == 2 else is_from_3


def _is_version(module: Module, node: ast.expr) -> bool:
    """Returns whether a node is `sys.version_info`, its item 0 or its `major`."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return _name(module, node) in ("sys.version_info", "sys.version_info.major")


def _name(module: Module, node: ast.expr) -> str:
    reference = module.reference(node)
    return reference.target if reference is not None else ""
