"""Formats findings as JSON."""

from __future__ import annotations

import json
from typing import Any

from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding

__all__ = ["render"]


def render(report: Report) -> str:
    """Returns one object with the files and their findings."""
    files = [
        {
            "path": file.path,
            "lines": file.lines,
            "passed_over": file.passed_over,
            "findings": [_finding(finding) for finding in file.findings],
        }
        for file in report.files
    ]
    return json.dumps({"version": 1, "files": files}, indent=2)


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.name.lower(),
        "cell": finding.cell,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "how": finding.how,
    }
