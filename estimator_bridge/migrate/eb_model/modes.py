"""Follows a model_fn in each mode up to the EstimatorSpec that it returns."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from estimator_bridge.migrate.eb_model.data_flow import reads, sets
from estimator_bridge.migrate.eb_model.refusal import CannotTakeApartError

__all__ = ["MODES", "Path", "path_of"]

MODES = {"TRAIN": "train", "EVAL": "eval", "PREDICT": "infer"}


@dataclass
class Path:
    """One mode's path through a model_fn.

    Attributes:
      statements: the statements before the return.
      spec: the call that creates the returned spec.
      of_labels: variables that depend on the labels.
    """

    statements: list[ast.stmt]
    spec: ast.Call
    of_labels: set[str]


def path_of(function: ast.FunctionDef, mode: str) -> Path:
    """Follows a model_fn in a mode.

    Args:
      function: the model_fn.
      mode: "TRAIN", "EVAL" or "PREDICT".

    Raises:
      CannotTakeApartError: a return depends on more than the mode, or does not return a spec.
    """
    walk = _Walk(mode)
    statement = walk.follow(function.body)
    if statement is None:
        raise CannotTakeApartError(function, f"returns no EstimatorSpec in mode {mode}")
    spec = statement.value
    if isinstance(spec, ast.Name):
        spec = _value_of(walk.statements, spec.id)
    if not isinstance(spec, ast.Call) or not _name(spec.func).endswith("EstimatorSpec"):
        raise CannotTakeApartError(
            statement, f"its result in mode {mode} is not a call of EstimatorSpec: the parts "
            "cannot be told apart",
        )  # fmt: skip
    return Path(walk.statements, spec, walk.of_labels)


def _value_of(statements: Sequence[ast.stmt], name: str) -> ast.expr | None:
    for statement in reversed(statements):
        if isinstance(statement, ast.Assign) and name in sets(statement):
            return statement.value
    return None


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


class _Walk:
    def __init__(self, mode: str):
        self.mode = mode
        self.statements: list[ast.stmt] = []
        self.of_labels = {"labels"}

    def follow(self, body: Sequence[ast.stmt]) -> ast.Return | None:
        """Follows statements; returns the return that ends the path, if any."""
        for statement in body:
            if isinstance(statement, ast.Return):
                return statement
            if _is_only_del(statement):
                continue
            returns = any(isinstance(n, ast.Return) for n in _own_nodes(statement))
            outcome = (
                _value_in_mode(statement.test, self.mode) if isinstance(statement, ast.If) else None
            )
            if outcome is not None and (returns or reads(statement) & self.of_labels):
                assert isinstance(statement, ast.If)
                ending = self.follow(statement.body if outcome else statement.orelse)
                if ending is not None:
                    return ending
                continue
            if returns:
                raise CannotTakeApartError(
                    statement, "a return is below a condition on more than the mode"
                )
            if reads(statement) & self.of_labels:
                self.of_labels |= sets(statement)
            self.statements.append(statement)
        return None


def _is_only_del(statement: ast.stmt) -> bool:
    """Returns whether a statement is `del` of variables, such as unused arguments."""
    return isinstance(statement, ast.Delete) and all(
        isinstance(target, ast.Name) for target in statement.targets
    )


def _own_nodes(statement: ast.stmt) -> list[ast.AST]:
    """Returns the nodes of a statement without those of inner functions."""
    nodes: list[ast.AST] = []
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        nodes.append(node)
        todo.extend(ast.iter_child_nodes(node))
    return nodes


def _value_in_mode(test: ast.expr, mode: str) -> bool | None:
    """Returns the value of a condition in a mode; None if it depends on more."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _value_in_mode(test.operand, mode)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_value_in_mode(value, mode) for value in test.values]
        if isinstance(test.op, ast.Or):
            return True if True in parts else None if None in parts else False
        return False if False in parts else None if None in parts else True
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    name, right, op = test.left, test.comparators[0], test.ops[0]
    if isinstance(right, ast.Name) and right.id == "mode":
        name, right = right, name
    if not (isinstance(name, ast.Name) and name.id == "mode"):
        return None
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
        values = [_mode(item) for item in right.elts]
        return None if None in values else (mode in values) == isinstance(op, ast.In)
    value = _mode(right)
    if value is None or not isinstance(op, (ast.Eq, ast.NotEq)):
        return None
    return (value == mode) == isinstance(op, ast.Eq)


def _mode(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute) and node.attr in MODES:
        return node.attr
    if isinstance(node, ast.Constant):
        return next((mode for mode, text in MODES.items() if text == node.value), None)
    return None
