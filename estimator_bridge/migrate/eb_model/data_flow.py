"""Data flow: the variables that statements read and set, and slices for variables' values."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

__all__ = ["reads", "sets", "slice_for"]

_MUTATING = {"append", "extend", "insert", "pop", "setdefault", "update"}
_INNER = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp)  # fmt: skip


def reads(node: ast.AST) -> set[str]:
    """Returns the variables that a node reads, including outer variables of inner functions."""
    names: set[str] = set()
    local_names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            names.add(inner.id)
        elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            names.add(inner.target.id)
        elif isinstance(inner, (ast.FunctionDef, ast.Lambda)):
            local_names |= {a.arg for a in ast.walk(inner.args) if isinstance(a, ast.arg)}
        elif isinstance(inner, ast.comprehension):
            local_names |= {n.id for n in ast.walk(inner.target) if isinstance(n, ast.Name)}
    if isinstance(node, ast.FunctionDef):
        local_names |= {n for statement in node.body for n in sets(statement)}
    return names - local_names


def sets(statement: ast.stmt) -> set[str]:
    """Returns the variables of its scope that a statement sets or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    variables: set[str] = set()
    for node in _of_scope(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            variables.add(node.id)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(
            node.ctx, ast.Load
        ):
            variables |= _root(node.value)
        elif isinstance(node, ast.alias):
            variables.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            variables.add(node.name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            variables |= _root(node.func.value) if node.func.attr in _MUTATING else set()
    return variables


def _of_scope(statement: ast.stmt) -> Iterable[ast.AST]:
    """Yields the nodes of a statement without those of inner functions and comprehensions."""
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _INNER):
            todo.extend(ast.iter_child_nodes(node))


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def slice_for(
    statements: Sequence[ast.stmt], variables: Collection[str]
) -> tuple[list[ast.stmt], set[str]]:
    """Returns the statements that the final values of variables depend on.

    Args:
      statements: the statements in order.
      variables: the variables.

    Returns:
      The statements in order, and the variables that they read before they set them.
    """
    inputs = set(variables)
    needed_statements: list[ast.stmt] = []
    for statement in reversed(statements):
        targets = sets(statement) & inputs
        if not targets:
            continue
        needed_statements.append(statement)
        if _sets_anew(statement):
            inputs -= targets
        inputs |= reads(statement)
    return needed_statements[::-1], inputs


def _sets_anew(statement: ast.stmt) -> bool:
    """Returns whether a statement sets its variables regardless of their old values."""
    if isinstance(statement, ast.With):
        return all(_sets_anew(inner) for inner in statement.body)
    if isinstance(statement, ast.Assign):
        return all(isinstance(node, (ast.Name, ast.Tuple, ast.List)) for node in statement.targets)
    return isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom))
