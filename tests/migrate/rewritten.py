"""Checks and rewrites texts, for tests."""

from __future__ import annotations

from textwrap import dedent

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.check import examine
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import select_rules
from estimator_bridge.migrate.rewriting import rewrite_text

__all__ = ["check_changed", "check_left_alone", "check_reported", "findings", "rewritten"]


def findings(source: str, *codes: str, dialect: Dialect | None = None):
    """Returns the rules' findings in a source; all rules if no code is given."""
    module = Module("program.py", dedent(source), dialect)
    return list(examine(module, select_rules(codes, ())).findings)


def rewritten(source: str, *codes: str, dialect: Dialect | None = None) -> str:
    """Returns a source after `rewrite`; a second run must not change it."""
    rules = select_rules(codes, ())
    module = Module("program.py", dedent(source), dialect)
    text, _ = rewrite_text(module, rules, examine(module, rules).findings)
    if text == module.text:
        return text
    again = Module("program.py", text)
    assert rewrite_text(again, rules, examine(again, rules).findings)[0] == text
    return text


def check_left_alone(source: str, *codes: str) -> None:
    """Checks that no rule, or none of some, finds anything in a source."""
    assert findings(source, *codes) == []
    assert rewritten(source, *codes) == source


def check_changed(code: str, before: str, after: str, *codes: str) -> None:
    """Checks that a rule finds something in a source, and what the source is after `rewrite`.

    Args:
      code: the rule.
      before: the source.
      after: the source that all rules make of it.
      codes: applies only these rules.
    """
    assert code in {finding.rule for finding in findings(before, *codes)}
    assert rewritten(before, *codes) == after


def check_reported(code: str, severity: str, source: str, words: str = "") -> None:
    """Checks that a source has one finding, and that `rewrite` only adds the comment on it.

    Args:
      code: the rule.
      severity: the finding's.
      source: the source, without comments.
      words: words of the message or the advice.
    """
    (finding,) = findings(source)
    assert (finding.rule, finding.severity.value) == (code, severity), finding
    assert words in f"{finding.message}. {finding.how}"
    lines = rewritten(source).splitlines()
    assert sum(f"# {code}: " in line for line in lines) == (severity != "works as is")
    assert [line for line in lines if not line.lstrip().startswith("#")] == source.splitlines()
