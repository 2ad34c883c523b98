"""The rule about names: a value is called by a noun of the field, never by a bare participle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tooling.house.tree import Tree

PARTICIPLES = frozenset(
    ["found", "given", "made", "wanted", "known", "told", "said", "kept", "taken"]
)
# Not yet in the tests and goldens, which call many values by these.
PARTICIPLES_OF_PACKAGES = frozenset(
    ["added", "allowed", "begun", "called", "carried", "chosen", "counted", "described", "done",
     "drawn", "ended", "fetched", "gathered", "held", "imported", "installed", "joined", "listed",
     "lost", "moved", "named", "numbered", "offered", "raised", "reached", "returned", "seen",
     "shown", "stored", "trained", "tried", "used"]
)  # fmt: skip
_PACKAGES = {"benchmarks", "estimator_bridge", "flags", "models", "parity", "tooling"}
_WORDS = re.compile(rf"\b_*({'|'.join(sorted(PARTICIPLES | PARTICIPLES_OF_PACKAGES))})_*\b")
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yields the line and the name of each variable, parameter, attribute, function and class."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, _NAMED) and node.name:
            yield node.lineno, node.name
        elif isinstance(node, ast.alias) and node.asname:
            yield node.lineno, node.asname


def values_have_nouns_as_names(tree: Tree) -> Iterator[str]:
    """Finds names that say what happened to a value and not what it is."""
    for path in tree.modules():
        if not _WORDS.search(tree.text(path)):
            continue  # most files need not be parsed
        in_package = path.parts[0] in _PACKAGES
        words = PARTICIPLES | PARTICIPLES_OF_PACKAGES if in_package else PARTICIPLES
        for line, name in bound_names(tree.nodes(path)):
            if name.strip("_") in words:
                yield f"{path}:{line}: {name} does not say what the value is"


RULES = [values_have_nouns_as_names]
