"""Checks and rewrites texts, for tests."""

from __future__ import annotations

from textwrap import dedent

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.check import examine
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import selected
from estimator_bridge.migrate.rewriting import rewritten_text

__all__ = ["findings", "rewritten"]


def findings(source: str, *codes: str, dialect: Dialect | None = None):
    """What the rules find in a source; all rules where no code is given."""
    module = Module("program.py", dedent(source), dialect)
    return list(examine(module, selected(codes, ())).findings)


def rewritten(source: str, *codes: str, dialect: Dialect | None = None) -> str:
    """A source as `rewrite` leaves it, which must be what a second run leaves, too."""
    rules = selected(codes, ())
    module = Module("program.py", dedent(source), dialect)
    text = rewritten_text(module, rules, examine(module, rules).findings)
    again = Module("program.py", text)
    assert rewritten_text(again, rules, examine(again, rules).findings) == text
    return text
