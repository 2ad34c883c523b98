"""The common part of the rules for moved modules and names outside of TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.import_statements import NewImport, rewrite_statement
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.scopes import Import

__all__ = ["find_moved_imports"]


def find_moved_imports(
    module: Module, code: str, place_of: Callable[[str], str], why: str
) -> Iterator[Finding]:
    """Finds imports of moved modules and names.

    Args:
      module: the module to search.
      code: the rule's code.
      place_of: maps a full name to its new full name, or to itself.
      why: the part of the message after the name.

    Yields:
      A finding for each statement, except those in a `try` or below an `if`: there the program
      handles both names.
    """
    statements: dict[ast.stmt, list[Import]] = {}
    for import_ in module.imports:
        if import_.variable != "*" and not import_.has_guard:
            statements.setdefault(import_.statement, []).append(import_)
    for statement, names in statements.items():
        assert isinstance(statement, (ast.Import, ast.ImportFrom))
        today = [_today(import_, place_of) for import_ in names]
        to_change = [f for f, new in zip(names, today) if new != NewImport.of(f)]
        if to_change:
            edit, text = rewrite_statement(module, statement, names, today)
            targets = ", ".join(import_.target for import_ in to_change)
            yield module.finding(
                code, statement, Severity.REWRITTEN, f"{targets} {why}", f"Write `{text}`.", (edit,)
            )


def _today(import_: Import, place_of: Callable[[str], str]) -> NewImport:
    new = NewImport.of(import_)
    place = place_of(new.target)
    return new if place == new.target else NewImport(place, import_.variable, new.plain)
