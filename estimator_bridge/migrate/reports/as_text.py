"""Formats findings as lines of text with a summary."""

from __future__ import annotations

from collections import Counter

from estimator_bridge.base.terminal_text import printable
from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity

__all__ = ["render", "summary"]


def render(report: Report) -> str:
    """Returns a line for each finding, then the counts by severity for each file and in total."""
    lines = [_line(finding) for finding in report.findings]
    return "\n".join([*map(printable, lines), *([""] if lines else []), summary(report)])


def _line(finding: Finding) -> str:
    cell = f" cell {finding.cell}" if finding.cell else ""
    how = f" {finding.how}" if finding.how else ""
    return (
        f"{finding.file}{cell}:{finding.line}:{finding.column}: {finding.rule} "
        f"[{finding.severity.value}] {finding.message}.{how}"
    )


def summary(report: Report) -> str:
    """Returns the counts of findings by severity."""
    lines = []
    for file in report.files:
        if file.passed_over:
            lines.append(printable(f"{file.path}: passed over: {file.passed_over}"))
        elif file.findings:
            lines.append(f"{printable(file.path)}: {_counts(list(file.findings))}")
    passed = sum(bool(file.passed_over) for file in report.files)
    total = _counts(report.findings) if report.findings else "nothing found"
    files = f"{len(report.files)} {'file' if len(report.files) == 1 else 'files'}"
    lines.append(
        f"{files}, {sum(file.lines for file in report.files if not file.passed_over)} lines"
        f"{f', {passed} passed over' if passed else ''}: {total}"
    )
    return "\n".join(lines)


def _counts(findings: list[Finding]) -> str:
    count = Counter(finding.severity for finding in findings)
    return ", ".join(f"{count[kind]} {kind.value}" for kind in Severity if count[kind])
