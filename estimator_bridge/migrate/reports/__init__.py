"""The output formats of findings, one module per format."""

from __future__ import annotations

from collections.abc import Callable

from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.reports import as_github, as_json, as_lines, as_sarif, as_text

__all__ = ["FORMATS"]

# The functions that format a report, by the value of --format; "lines" is --verbose.
FORMATS: dict[str, Callable[[Report], str]] = {
    "github": as_github.render,
    "json": as_json.render,
    "lines": as_lines.render,
    "sarif": as_sarif.render,
    "text": as_text.render,
}
