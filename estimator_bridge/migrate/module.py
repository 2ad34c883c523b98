"""A source as rules see it."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from typing import TypeVar

from estimator_bridge.legacy.running.dialects import (
    Dialect,
    Verdict,
    judge_nodes,
    speaks_tensorflow,
)
from estimator_bridge.migrate.alias_positions import place_aliases
from estimator_bridge.migrate.lines import Lines
from estimator_bridge.migrate.names import Known, canonical, look_up
from estimator_bridge.migrate.scopes import Import, Reference, Scopes
from estimator_bridge.migrate.values import Edit, Finding, Severity, Span

__all__ = ["Module"]

_Node = TypeVar("_Node", bound=ast.AST)


class Module:
    """A module that could be parsed.

    Args:
      file: how it is shown.
      text: its source.
      dialect: what it means by `tensorflow`; by default what its source tells, and TensorFlow 2
        where it does not.

    Attributes:
      tree: its syntax tree.
      lines: its lines.
      verdict: what its source tells of its dialect.
      dialect: what it is taken to mean; to be set before any rule looks at the module.

    Raises:
      SyntaxError: it is not Python 3.
    """

    def __init__(self, file: str, text: str, dialect: Dialect | None = None):
        self.file, self.text = file, text
        self.tree = ast.parse(text)
        if sys.version_info < (3, 10):
            place_aliases(self.tree, text)
        self.lines = Lines(text)
        self._nodes = list(ast.walk(self.tree))
        speaks = speaks_tensorflow(text.encode())
        self.verdict = judge_nodes(self._nodes) if speaks else Verdict(None)
        self.dialect = dialect or self.verdict.dialect or Dialect.TF2

    @property
    def newline(self) -> str:
        """How its lines end."""
        first = self.lines.line(1)
        return first[len(first.rstrip("\r\n")) :] or "\n"

    @functools.cached_property
    def scopes(self) -> Scopes:
        """Its variables."""
        return Scopes(self.tree)

    @functools.cached_property
    def _by_kind(self) -> dict[type, list[ast.AST]]:
        found: dict[type, list[ast.AST]] = {}
        for node in self._nodes:
            found.setdefault(type(node), []).append(node)
        return found

    def nodes(self, *kinds: type[_Node]) -> Iterator[_Node]:
        """The nodes of some kinds."""
        for kind in kinds:
            yield from self._by_kind.get(kind, ())  # type: ignore[misc]

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """By node: the one that it is part of."""
        return {
            child: node
            for nodes in self._by_kind.values()
            for node in nodes
            for child in ast.iter_child_nodes(node)
        }

    @functools.cached_property
    def _by_node(self) -> dict[ast.expr, Reference]:
        return {found.node: found for found in self.scopes.references}

    def reference(self, node: ast.expr) -> Reference | None:
        """What a name or an attribute of one refers to."""
        return self._by_node.get(node)

    def name(self, target: str) -> str:
        """A target under the root by which names are looked up: "tf1.nn.relu"."""
        return canonical(target, self.dialect)

    def name_of(self, node: ast.expr) -> str:
        """The same of a name or an attribute of one; "" where it is none, or not known."""
        found = self._by_node.get(node)
        return self.name(found.target) if found is not None else ""

    def known(self, found: Reference) -> Known | None:
        """What is known of a reference."""
        return look_up(self.name(found.target)) if found.target else None

    @functools.cached_property
    def uses(self) -> list[tuple[Reference, Known]]:
        """The references of which something is known, in the order of the text."""
        found = [(r, known) for r in self.scopes.references if (known := self.known(r)) is not None]
        return sorted(found, key=lambda pair: _position(pair[0].nodes[0]))

    @property
    def imports(self) -> list[Import]:
        """What it imports."""
        return self.scopes.imports

    def depth(self, reference: Reference, known: Known) -> int:
        """How many of a reference's nodes make up the part that is known."""
        behind = len(self.name(reference.target).split(".")) - len(known.name.split("."))
        return len(reference.nodes) - behind

    def free_name(self, *wanted: str) -> str:
        """The first of some names that is no variable of the module yet."""
        return next(name for name in wanted if name not in self.scopes.bound)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def finding(
        self,
        rule: str,
        node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg,
        severity: Severity,
        message: str,
        how: str = "",
        edits: tuple[Edit, ...] = (),
        imports: tuple[str, ...] = (),
    ) -> Finding:
        """A finding at a node of the tree."""
        start = self.lines.span(node).start
        return self.finding_at(rule, start, severity, message, how, edits, imports)

    def finding_at(
        self,
        rule: str,
        offset: int,
        severity: Severity,
        message: str,
        how: str = "",
        edits: tuple[Edit, ...] = (),
        imports: tuple[str, ...] = (),
    ) -> Finding:
        """A finding at a character of the text."""
        line, column = self.lines.place(offset)
        return Finding(
            rule, self.file, line, column, severity, message, how, edits=edits, imports=imports
        )

    def replaced(self, node: ast.expr | ast.alias | ast.keyword, text: str) -> Edit:
        """The edit that writes a text in place of a node."""
        return Edit(self.lines.span(node), text)

    def span(self, first: ast.expr, last: ast.expr) -> Span:
        """The text from one expression to the end of another."""
        return Span(self.lines.span(first).start, self.lines.span(last).end)


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
