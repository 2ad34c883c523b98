"""Rewrites import statements with as little change as possible."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from estimator_bridge.migrate.findings import Edit, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.scopes import Import

__all__ = ["NewImport", "rewrite_statement"]

_FROM = re.compile(r"from(?:\s|\\\n)+(?P<module>[\w.]+)(?:\s|\\\n)+import\b")


@dataclass(frozen=True)
class NewImport:
    """A variable's new import.

    Attributes:
      target: the full name of a module or of an object in it.
      variable: the variable.
      plain: whether it is written ``import a.b``, not ``from a import b``.
      as_it_stands: whether it is plain and its variable is its first part.
    """

    target: str
    variable: str
    plain: bool = False
    as_it_stands: bool = False

    @staticmethod
    def of(import_: Import) -> NewImport:
        """Returns an import unchanged."""
        plain = isinstance(import_.statement, ast.Import)
        name = import_.alias.name if plain else import_.target
        return NewImport(name, import_.variable, plain, plain and not import_.alias.asname)

    @property
    def module(self) -> str:
        """The part after `from`; "" without one."""
        if self.plain or "." not in self.target.lstrip("."):
            return "" if not self.target.startswith(".") else self.target
        module = self.target.rpartition(".")[0]
        return module or "."

    @property
    def name(self) -> str:
        """The part after `import`, with the variable."""
        name = self.target if self.plain or not self.module else self.target.rpartition(".")[2]
        same = self.variable == name or (self.plain and self.as_it_stands)
        return name if same else f"{name} as {self.variable}"


def rewrite_statement(
    module: Module,
    statement: ast.Import | ast.ImportFrom,
    names: Sequence[Import],
    today: Sequence[NewImport | None],
) -> tuple[Edit, str]:
    """Returns the edit that makes a statement import its names from their new places.

    Args:
      module: the statement's module.
      statement: the statement.
      names: its imports.
      today: for each import, its replacement; None to remove it.

    Returns:
      The edit, and a short form of the new statement.
    """
    span = module.lines.span(statement)
    text = module.text[span.start : span.end]
    if isinstance(statement, ast.ImportFrom):
        imports = [new for new in today if new is not None]
        homes = {new.module for new in imports}
        same = len(imports) == len(today) and len(homes) == 1 and "" not in homes
        head = _FROM.match(text)
        if same and head and all(n.name == _alias(f.alias) for n, f in zip(imports, names)):
            (home,) = homes
            place = Span(span.start + head.start("module"), span.start + head.end("module"))
            return Edit(place, home), f"from {home} import {', '.join(n.name for n in imports)}"
    return _anew(module, span, text, today)


def _anew(
    module: Module, span: Span, text: str, today: Sequence[NewImport | None]
) -> tuple[Edit, str]:
    indent = " " * (module.lines.place(span.start)[1] - 1)
    homes: dict[str, list[str]] = {}
    plain: list[str] = []
    for new in today:
        if new is not None and new.module:
            homes.setdefault(new.module, []).append(new.name)
        elif new is not None:
            plain.append(f"import {new.name}")
    lines = [f"from {home} import {', '.join(names)}" for home, names in homes.items()]
    lines = [*_comments(text), *plain, *map(_wrap, lines)] or ["pass"]
    if lines == ["pass"] and _stands_alone(module, span) and not indent:
        end = module.lines.place(span.end)[0]
        return Edit(Span(span.start, module.lines.start(end + 1)), ""), "nothing"
    whole = f"{module.newline}{indent}".join(line.replace("\n", module.newline) for line in lines)
    return Edit(span, whole), "; ".join(lines)


def _stands_alone(module: Module, span: Span) -> bool:
    """Returns whether a statement is alone on its lines."""
    column = module.lines.place(span.start)[1]
    rest = module.text[span.end :].split("\n", 1)[0].strip()
    return column == 1 and not rest


def _wrap(line: str) -> str:
    if len(line) <= 100:
        return line
    head, _, names = line.partition(" import ")
    return f"{head} import (\n    " + ",\n    ".join(names.split(", ")) + ",\n)"


def _comments(text: str) -> list[str]:
    """Returns the comments within a statement."""
    return [comment.strip() for comment in re.findall(r"#[^\r\n]*", text)]


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
