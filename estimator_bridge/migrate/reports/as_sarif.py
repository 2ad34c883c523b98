"""Formats findings as SARIF 2.1.0, for GitHub code scanning and other viewers."""

from __future__ import annotations

import json
import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from estimator_bridge.base.version import __version__
from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.registry import Rule, all_rules

__all__ = ["render"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {
    Severity.WORKS: "note",
    Severity.REWRITTEN: "warning",
    Severity.BY_HAND: "error",
    Severity.UNAVAILABLE: "error",
}


def render(report: Report) -> str:
    """Returns one log with one run: the rules with findings, and the findings as results."""
    codes = sorted({finding.rule for finding in report.findings})
    run = {
        "tool": {
            "driver": {
                "name": "estimator-bridge",
                "version": __version__,
                "rules": [_rule(all_rules()[code]) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes.index(finding.rule)) for finding in report.findings],
        "invocations": [{"executionSuccessful": True}],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text.split("\n\n")[0].replace("\n", " ")},
        "help": {"text": rule.text, "markdown": rule.text},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    cell = f"cell {finding.cell}: " if finding.cell else ""
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{cell}{finding.message}. {finding.how}".strip()},
        "properties": {"severity": finding.severity.value},
    }
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
    if finding.cell:  # its line is in the cell, not in the file
        result["properties"].update(cell=finding.cell, line=finding.line, column=finding.column)
    else:
        location["region"] = {"startLine": finding.line, "startColumn": finding.column}
    return {**result, "locations": [{"physicalLocation": location}]}


def _uri(path: str) -> str:
    """Returns a path as a URI reference; a relative path stays relative to the repository."""
    if os.path.isabs(path):
        return PurePath(path).as_uri()
    return quote(PurePath(os.path.normpath(path)).as_posix())
