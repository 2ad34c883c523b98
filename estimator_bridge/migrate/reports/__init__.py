"""How findings are shown: to people, to programs, to GitHub. One format is one module."""

from __future__ import annotations

from collections.abc import Callable

from estimator_bridge.migrate.check import Report
from estimator_bridge.migrate.reports import as_github, as_json, as_text

__all__ = ["FORMATS"]

# By the name that --format takes: what makes the text of a report.
FORMATS: dict[str, Callable[[Report], str]] = {
    "github": as_github.shown,
    "json": as_json.shown,
    "text": as_text.shown,
}
