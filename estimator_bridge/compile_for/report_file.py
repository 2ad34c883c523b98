"""Writes a report to a file: JSON or an HTML page."""

from __future__ import annotations

import json
import os

from estimator_bridge.compile_for.html_page import page_of
from estimator_bridge.compile_for.report import Report
from estimator_bridge.own_files import temporary_beside
from estimator_bridge.own_files.local_files import whole_file

__all__ = ["check_report_file", "write_report"]

_PAGES = (".html", ".htm")
_ENDINGS = (".json", *_PAGES)


def check_report_file(path: str) -> str:
    """Checks, before anything is compiled, that a report can be written.

    Args:
      path: the report's path.

    Returns:
      The absolute path.

    Raises:
      ValueError: the path has another extension, or cannot be written.
    """
    path = os.path.abspath(path)
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise ValueError(f"the report {path} is a folder. Name a file.")
    if os.path.splitext(name)[1].lower() not in _ENDINGS:
        raise ValueError(f"the report {name!r} must end in .json, or in .html for a web page.")
    if not os.path.isdir(folder):
        raise ValueError(f"the report's folder {folder} does not exist. Create it first.")
    try:  # root may write anywhere except on a read-only file system
        with temporary_beside(path):
            pass
    except OSError as error:
        raise ValueError(
            f"the report {path} cannot be written: {error.strerror}. Name a file in a "
            "writable folder."
        ) from error
    return path


def write_report(report: Report, path: str) -> None:
    """Writes a report to a file atomically.

    Args:
      report: the report of all steps so far.
      path: an HTML page if it ends in '.html' or '.htm', else JSON.

    Raises:
      OSError: the file cannot be written.
    """
    is_page = path.lower().endswith(_PAGES)
    text = page_of(report) if is_page else json.dumps(report.as_json(), indent=1) + "\n"
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
