"""Checks and rewrites texts, for tests."""

from __future__ import annotations

from textwrap import dedent

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.check import examine
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import select_rules
from estimator_bridge.migrate.rewriting import rewrite_text

__all__ = ["findings", "rewritten"]


def findings(source: str, *codes: str, dialect: Dialect | None = None):
    """Returns the rules' findings in a source; all rules if no code is given."""
    module = Module("program.py", dedent(source), dialect)
    return list(examine(module, select_rules(codes, ())).findings)


def rewritten(source: str, *codes: str, dialect: Dialect | None = None) -> str:
    """Returns a source after `rewrite`; a second run must not change it."""
    rules = select_rules(codes, ())
    module = Module("program.py", dedent(source), dialect)
    text, _ = rewrite_text(module, rules, examine(module, rules).findings)
    again = Module("program.py", text)
    assert rewrite_text(again, rules, examine(again, rules).findings)[0] == text
    return text
