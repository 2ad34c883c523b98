"""Formats findings as one line each, with a summary by file."""

from __future__ import annotations

from collections import Counter

from estimator_bridge.base.terminal_text import printable
from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity

__all__ = ["describe_extent", "describe_place", "render", "summary"]


def render(report: Report) -> str:
    """Returns a line for each finding, then the counts by severity for each file and in total."""
    lines = [_line(finding) for finding in report.findings]
    return "\n".join([*map(printable, lines), *([""] if lines else []), summary(report)])


def _line(finding: Finding) -> str:
    how = f" {finding.how}" if finding.how else ""
    return (
        f"{describe_place(finding)}: {finding.rule} [{finding.severity.value}] "
        f"{finding.message}.{how}"
    )


def describe_place(finding: Finding) -> str:
    """Returns the file, line and column, and a notebook's cell."""
    cell = f" cell {finding.cell}" if finding.cell else ""
    return f"{finding.file}{cell}:{finding.line}:{finding.column}"


def summary(report: Report) -> str:
    """Returns the counts of findings by severity."""
    lines = []
    for file in report.files:
        if file.passed_over:
            lines.append(printable(f"{file.path}: passed over: {file.passed_over}"))
        elif file.findings:
            lines.append(f"{printable(file.path)}: {_counts(list(file.findings))}")
    total = _counts(report.findings) if report.findings else "nothing found"
    return "\n".join([*lines, f"{describe_extent(report)}: {total}"])


def describe_extent(report: Report) -> str:
    """Returns how many files and lines were read, and how many files were not."""
    skip_count = sum(bool(file.passed_over) for file in report.files)
    files = f"{len(report.files)} {'file' if len(report.files) == 1 else 'files'}"
    lines = sum(file.lines for file in report.files if not file.passed_over)
    return f"{files}, {lines} lines{f', {skip_count} passed over' if skip_count else ''}"


def _counts(findings: list[Finding]) -> str:
    count = Counter(finding.severity for finding in findings)
    return ", ".join(f"{count[kind]} {kind.value}" for kind in Severity if count[kind])
