"""Formats findings as SARIF 2.1.0, for GitHub code scanning and other viewers."""

from __future__ import annotations

import json
import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.registry import Rule, all_rules
from estimator_bridge.version import __version__

__all__ = ["shown"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {
    Severity.WORKS: "note",
    Severity.REWRITTEN: "warning",
    Severity.BY_HAND: "error",
    Severity.UNAVAILABLE: "error",
}


def shown(report: Report) -> str:
    """Returns one log with one run: the rules with findings, and the findings as results."""
    codes = sorted({found.rule for found in report.findings})
    run = {
        "tool": {
            "driver": {
                "name": "estimator-bridge",
                "version": __version__,
                "rules": [_rule(all_rules()[code]) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, codes.index(found.rule)) for found in report.findings],
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


def _result(found: Finding, rule: int) -> dict[str, Any]:
    cell = f"cell {found.cell}: " if found.cell else ""
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": rule,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{cell}{found.message}. {found.how}".strip()},
        "properties": {"severity": found.severity.value},
    }
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(found.file)}}
    if found.cell:  # its line is in the cell, not in the file
        result["properties"].update(cell=found.cell, line=found.line, column=found.column)
    else:
        location["region"] = {"startLine": found.line, "startColumn": found.column}
    return {**result, "locations": [{"physicalLocation": location}]}


def _uri(path: str) -> str:
    """Returns a path as a URI reference; a relative path stays relative to the repository."""
    if os.path.isabs(path):
        return PurePath(path).as_uri()
    return quote(PurePath(os.path.normpath(path)).as_posix())
