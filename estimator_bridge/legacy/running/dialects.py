"""Determines from a module's source which TensorFlow it was written for."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from estimator_bridge.legacy.running.tf1_names import ONLY_TF1

__all__ = ["Dialect", "Verdict", "imports_tensorflow", "judge", "judge_nodes"]


class Dialect(enum.Enum):
    """The meaning of `import tensorflow` in a module."""

    TF1 = "TF1"
    TF2 = "TF2"


class Verdict(NamedTuple):
    """A module's dialect, and the evidence in its source.

    Attributes:
      dialect: the dialect it was written for; None if its source fits both.
      reason: the name that decided, with its line; "" if there is none.
    """

    dialect: Dialect | None
    reason: str = ""


_DOUBT = Verdict(None)
_COMPAT = ("tensorflow.compat.v1", "tensorflow.compat.v2")
_OF_COMPAT = ("compat.v1", "compat.v2")


def imports_tensorflow(source: bytes) -> bool:
    """Returns whether a module may import TensorFlow: a quick check before `judge`."""
    return b"tensorflow" in source


def judge(source: bytes) -> Verdict:
    """Determines which TensorFlow a module was written for.

    A name of tf that only TF1 had decides for TF1, unless some branch binds tf to tf.compat.v1:
    such a module knows where TF2 has TF1's names, and means TF2.

    Args:
      source: the module's source.

    Returns:
      The verdict; without a dialect if Python cannot parse the source.
    """
    if not imports_tensorflow(source):
        return _DOUBT
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _DOUBT
    return judge_nodes(list(ast.walk(tree)))


def judge_nodes(nodes: Sequence[ast.AST]) -> Verdict:
    """Judges a parsed source as `judge` does.

    Args:
      nodes: all nodes of the module's syntax tree, as `ast.walk` returns them.
    """
    of_compat = _compat_variables(nodes)
    uses = list(_uses(nodes, _variables(nodes, "tensorflow") - of_compat.keys()))
    for name, line in uses:
        if _only_tf1(f"tensorflow.{name}"):
            return Verdict(Dialect.TF1, f"tf.{name} in line {line}")
    for line in of_compat.values():
        return Verdict(Dialect.TF2, f"tensorflow.compat in line {line}")
    imports = list(_imports(nodes))
    for name, line in imports:
        if name.startswith("tensorflow.contrib") or _only_tf1(name):
            return Verdict(Dialect.TF1, f"{name} in line {line}")
    for name, line in imports:
        if name.startswith(_COMPAT):
            return Verdict(Dialect.TF2, f"{name} in line {line}")
    for name, line in uses:
        if name.startswith(_OF_COMPAT):
            return Verdict(Dialect.TF2, f"tf.{name} in line {line}")
    return _DOUBT


def _only_tf1(name: str) -> bool:
    """Returns whether a dotted name is, or passes through, a name that only TF1 had."""
    parts = name.split(".")
    if parts[0] != "tensorflow":
        return False
    return any(".".join(parts[1:end]) in ONLY_TF1 for end in range(2, len(parts) + 1))


def _imports(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yields the full names below tensorflow that a module imports, with their lines."""
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.startswith("tensorflow."))


def _variables(nodes: Sequence[ast.AST], module: str) -> set[str]:
    """Returns the variables that refer to a module."""
    variables = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                is_top = alias.asname is None and alias.name.partition(".")[0] == module
                if is_top or alias.name == module:
                    variables.add(alias.asname or module)
    return variables


def _compat_variables(nodes: Sequence[ast.AST]) -> dict[str, int]:
    """Returns the variables that refer to tf.compat.v1 or v2 in any branch, with a line."""
    variables = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in _COMPAT and alias.asname:
                    variables[alias.asname] = node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module == "tensorflow.compat":
            variables.update((alias.asname or alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Assign) and _below(node.value, {"tf"}) in _OF_COMPAT:
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            variables.update(dict.fromkeys(names, node.lineno))
    return variables


def _uses(nodes: Sequence[ast.AST], variables: set[str]) -> Iterator[tuple[str, int]]:
    """Yields the dotted names below tf that a module uses, with their lines."""
    for node in nodes:
        if isinstance(node, ast.Attribute):
            name = _below(node, variables)
            if name:
                yield name, node.lineno


def _below(node: ast.expr, variables: set[str]) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in variables:
        return None
    return ".".join(reversed(parts))
