"""Formats findings as annotations of a GitHub workflow."""

from __future__ import annotations

from estimator_bridge.base.terminal_text import printable
from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.reports.as_lines import summary

__all__ = ["render"]

_KINDS = {
    Severity.WORKS: "notice",
    Severity.REWRITTEN: "warning",
    Severity.BY_HAND: "error",
    Severity.UNAVAILABLE: "error",
}


def render(report: Report) -> str:
    """Returns a command for each finding, which GitHub shows at its line, and the summary."""
    return "\n".join([*map(_command, report.findings), summary(report)])


def _command(finding: Finding) -> str:
    place = f"file={_property(finding.file)},line={finding.line},col={finding.column}"
    title = f"{finding.rule}, {finding.severity.value}"
    text = f"{finding.message}. {finding.how}".strip()
    return f"::{_KINDS[finding.severity]} {place},title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    encoded = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(encoded)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
