"""Formats findings as annotations of a GitHub workflow."""

from __future__ import annotations

from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.reports.as_text import summary
from estimator_bridge.terminal_text import printable

__all__ = ["shown"]

_KINDS = {
    Severity.WORKS: "notice",
    Severity.REWRITTEN: "warning",
    Severity.BY_HAND: "error",
    Severity.UNAVAILABLE: "error",
}


def shown(report: Report) -> str:
    """Returns a command for each finding, which GitHub shows at its line, and the summary."""
    return "\n".join([*map(_command, report.findings), summary(report)])


def _command(found: Finding) -> str:
    place = f"file={_property(found.file)},line={found.line},col={found.column}"
    title = f"{found.rule}, {found.severity.value}"
    said = f"{found.message}. {found.how}".strip()
    return f"::{_KINDS[found.severity]} {place},title={_property(title)}::{_data(said)}"


def _data(text: str) -> str:
    encoded = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(encoded)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
