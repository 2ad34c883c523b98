"""The source of a module, as rules use it."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from typing import TypeVar

from estimator_bridge.legacy.running.dialects import (
    Dialect,
    Verdict,
    imports_tensorflow,
    judge_nodes,
)
from estimator_bridge.migrate.alias_positions import place_aliases
from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.names import NameEntry, canonical, look_up
from estimator_bridge.migrate.scopes import Import, Reference, Scopes
from estimator_bridge.migrate.text_offsets import Lines

__all__ = ["Module"]

_Node = TypeVar("_Node", bound=ast.AST)


class Module:
    """A parsed module.

    Args:
      file: its path in findings.
      text: its source.
      dialect: the meaning of `tensorflow`; by default detected from the source, else TensorFlow 2.

    Attributes:
      tree: its syntax tree.
      lines: its lines.
      verdict: the dialect detected from its source.
      dialect: the dialect to use; set it before any rule checks the module.

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
        speaks = imports_tensorflow(text.encode())
        self.verdict = judge_nodes(self._nodes) if speaks else Verdict(None)
        self.dialect = dialect or self.verdict.dialect or Dialect.TF2

    @property
    def newline(self) -> str:
        """The line end."""
        first = self.lines.line(1)
        return first[len(first.rstrip("\r\n")) :] or "\n"

    @functools.cached_property
    def scopes(self) -> Scopes:
        """Its variables."""
        return Scopes(self.tree)

    @functools.cached_property
    def _by_kind(self) -> dict[type, list[ast.AST]]:
        by_kind: dict[type, list[ast.AST]] = {}
        for node in self._nodes:
            by_kind.setdefault(type(node), []).append(node)
        return by_kind

    def nodes(self, *kinds: type[_Node]) -> Iterator[_Node]:
        """Yields the nodes of some kinds."""
        for kind in kinds:
            yield from self._by_kind.get(kind, ())  # type: ignore[misc]

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node."""
        return {
            child: node
            for nodes in self._by_kind.values()
            for node in nodes
            for child in ast.iter_child_nodes(node)
        }

    @functools.cached_property
    def _by_node(self) -> dict[ast.expr, Reference]:
        return {reference.node: reference for reference in self.scopes.references}

    def reference(self, node: ast.expr) -> Reference | None:
        """Returns the reference of a name or an attribute of one."""
        return self._by_node.get(node)

    def name(self, target: str) -> str:
        """Returns a target's name for look-up: "tf1.nn.relu"."""
        return canonical(target, self.dialect)

    def name_of(self, node: ast.expr) -> str:
        """Returns the same for a node; "" if it is not a name or attribute, or unknown."""
        reference = self._by_node.get(node)
        return self.name(reference.target) if reference is not None else ""

    def entry_of(self, reference: Reference) -> NameEntry | None:
        """Returns the known facts about a reference."""
        return look_up(self.name(reference.target)) if reference.target else None

    @functools.cached_property
    def uses(self) -> list[tuple[Reference, NameEntry]]:
        """The references to known names, in the order of the text."""
        entries = ((use, self.entry_of(use)) for use in self.scopes.references)
        uses = [(use, entry) for use, entry in entries if entry is not None]
        return sorted(uses, key=lambda pair: _position(pair[0].nodes[0]))

    @property
    def imports(self) -> list[Import]:
        """The module's imports."""
        return self.scopes.imports

    def depth(self, reference: Reference, entry: NameEntry) -> int:
        """Returns how many of a reference's nodes belong to the known name."""
        behind = len(self.name(reference.target).split(".")) - len(entry.name.split("."))
        return len(reference.nodes) - behind

    def free_name(self, *candidates: str) -> str:
        """Returns the first of some names that is not yet a variable of the module."""
        return next(name for name in candidates if name not in self.scopes.names)

    def statement(self, node: ast.AST) -> ast.stmt:
        """Returns the statement that contains a node."""
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
        """Returns a finding at a node."""
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
        """Returns a finding at an offset of the text."""
        line, column = self.lines.place(offset)
        return Finding(
            rule, self.file, line, column, severity, message, how, edits=edits, imports=imports
        )

    def replacement(self, node: ast.expr | ast.alias | ast.keyword, text: str) -> Edit:
        """Returns the edit that replaces a node by a text."""
        return Edit(self.lines.span(node), text)

    def span(self, first: ast.expr, last: ast.expr) -> Span:
        """Returns the span from one expression to the end of another."""
        return Span(self.lines.span(first).start, self.lines.span(last).end)


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
