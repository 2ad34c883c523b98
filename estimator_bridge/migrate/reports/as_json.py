"""Formats findings as JSON."""

from __future__ import annotations

import json
from typing import Any

from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding

__all__ = ["shown"]


def shown(report: Report) -> str:
    """Returns one object with the files and their findings."""
    files = [
        {
            "path": file.path,
            "lines": file.lines,
            "passed_over": file.passed_over,
            "findings": [_finding(found) for found in file.findings],
        }
        for file in report.files
    ]
    return json.dumps({"version": 1, "files": files}, indent=2)


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "severity": found.severity.name.lower(),
        "cell": found.cell,
        "line": found.line,
        "column": found.column,
        "message": found.message,
        "how": found.how,
    }
