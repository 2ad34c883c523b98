"""Which TensorFlow a module was written for, seen from its source."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from typing import NamedTuple

from estimator_bridge.legacy.running.tf1_names import ONLY_TF1

__all__ = ["Dialect", "Verdict", "judge", "speaks_tensorflow"]


class Dialect(enum.Enum):
    """What a module means by `tensorflow`."""

    TF1 = "TF1"
    TF2 = "TF2"


class Verdict(NamedTuple):
    """A module's dialect, and what in its source says so.

    Attributes:
      dialect: what it was written for; None where its source fits both.
      reason: the name that decided, with its line; "" where none did.
    """

    dialect: Dialect | None
    reason: str = ""


_DOUBT = Verdict(None)
_COMPAT = ("tensorflow.compat.v1", "tensorflow.compat.v2")
_OF_COMPAT = ("compat.v1", "compat.v2")


def speaks_tensorflow(source: bytes) -> bool:
    """Whether a module may import TensorFlow at all: a quick look before `judge`."""
    return b"tensorflow" in source


def judge(source: bytes) -> Verdict:
    """Finds out which TensorFlow a module was written for.

    ``import tensorflow.compat.v1 as tf`` decides for TF2, whatever else there is: such a module
    knows where TF1's names are today. Else a name that only TF1 had decides for TF1, and else
    ``tf.compat`` for TF2.

    Args:
      source: the module's source.

    Returns:
      The verdict; without a dialect for a source that Python cannot read, too.
    """
    if not speaks_tensorflow(source):
        return _DOUBT
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return _DOUBT
    imports = list(_imports(tree))
    for name, line in imports:
        if name.startswith(_COMPAT):
            return Verdict(Dialect.TF2, f"{name} in line {line}")
    for name, line in imports:
        if name.startswith("tensorflow.contrib") or _only_tf1(name):
            return Verdict(Dialect.TF1, f"{name} in line {line}")
    uses = list(_uses(tree, _aliases(tree)))
    for name, line, is_rebound in uses:
        if is_rebound and name in _OF_COMPAT:
            return Verdict(Dialect.TF2, f"tf = tf.{name} in line {line}")
    for name, line, _ in uses:
        if _only_tf1(f"tensorflow.{name}"):
            return Verdict(Dialect.TF1, f"tf.{name} in line {line}")
    for name, line, _ in uses:
        if name.startswith(_OF_COMPAT):
            return Verdict(Dialect.TF2, f"tf.{name} in line {line}")
    return _DOUBT


def _only_tf1(name: str) -> bool:
    """Whether a dotted name leads to, or through, a name that only TF1 had."""
    parts = name.split(".")
    if parts[0] != "tensorflow":
        return False
    return any(".".join(parts[1:end]) in ONLY_TF1 for end in range(2, len(parts) + 1))


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The full names below tensorflow that a module imports, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.startswith("tensorflow."))


def _aliases(tree: ast.AST) -> set[str]:
    """The variables that stand for the module tensorflow."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "tensorflow" or (
                    alias.asname is None and alias.name.startswith("tensorflow.")
                ):
                    found.add(alias.asname or "tensorflow")
    return found


def _uses(tree: ast.AST, aliases: set[str]) -> Iterator[tuple[str, int, bool]]:
    """Names below tf that a module uses: dotted, line, whether tf itself is set to it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            name = _below(node.value, aliases)
            if name and targets & aliases:
                yield name, node.lineno, True
        elif isinstance(node, ast.Attribute):
            name = _below(node, aliases)
            if name:
                yield name, node.lineno, False


def _below(node: ast.expr, aliases: set[str]) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return None
    return ".".join(reversed(parts))
