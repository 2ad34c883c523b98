"""A report in a file: JSON, or a page of HTML."""

from __future__ import annotations

import json
import os
import tempfile

from estimator_bridge.compile_for.page import page_of
from estimator_bridge.compile_for.report import Report

__all__ = ["check_report_file", "write_report"]

_PAGES = (".html", ".htm")
_ENDINGS = (".json", *_PAGES)


def check_report_file(path: str) -> str:
    """Checks, before anything is compiled, that a report can be written.

    Args:
      path: of the file.

    Returns:
      The path, absolute.

    Raises:
      ValueError: the file's name has another ending, or it cannot be made there.
    """
    path = os.path.abspath(path)
    folder, name = os.path.split(path)
    if os.path.isdir(path):
        raise ValueError(f"the report {path} is a folder. Name a file.")
    if os.path.splitext(name)[1].lower() not in _ENDINGS:
        raise ValueError(
            f"the report {name!r} has to end in .json, or in .html for a page to look at."
        )
    if not os.path.isdir(folder):
        raise ValueError(f"the report's folder {folder} does not exist. Make it first.")
    try:  # root may write everywhere but on a file system that is read-only
        handle, part = tempfile.mkstemp(dir=folder, prefix=".report-")
    except OSError as error:
        raise ValueError(
            f"the report {path} cannot be written: {error.strerror}. Name a file in a folder of "
            "yours."
        ) from error
    os.close(handle)
    os.unlink(part)
    return path


def write_report(report: Report, path: str) -> None:
    """Writes a report to a file, whole or not at all.

    Args:
      report: of all steps so far.
      path: a file that ends in '.html' becomes a page, another JSON.

    Raises:
      OSError: the file cannot be written.
    """
    is_page = path.lower().endswith(_PAGES)
    text = page_of(report) if is_page else json.dumps(report.as_json(), indent=1) + "\n"
    handle, part = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=".report-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
