"""Writes the results as JSON, and the table of docs/versions.md made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tooling.matrix.claims import PAIRS, Pair
from tooling.matrix.environments import ROOT

__all__ = ["PAGE", "RESULTS", "passed", "read_results", "with_table", "write"]

RESULTS = ROOT / "docs" / "versions.json"
PAGE = ROOT / "docs" / "versions.md"
_BEGIN, _END = "<!-- table: begin -->\n", "<!-- table: end -->"
_HEAD = (
    "| TensorFlow | Python | tf-keras | NumPy | tests | train.py | checks | environment |",
    "|---|---|---|---|---|---|---|---|",
)

Row = dict[str, Any]


def read_results(path: Path = RESULTS) -> dict[str, Row]:
    """Returns the recorded rows by the names of their pairs; {} before the first run."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def passed(row: Row) -> bool:
    """Returns whether each check ran something, and nothing failed."""
    checks = row["checks"].values()
    return bool(checks) and all(check["passed"] and not check["failed"] for check in checks)


def table(results: dict[str, Row]) -> str:
    """Returns the table, one line a pair, in the order of the claims."""
    lines = [_line(pair, results.get(pair.name)) for pair in PAIRS]
    return "\n".join([*_HEAD, *lines]) + "\n"


def with_table(page: str, results: dict[str, Row]) -> str:
    """Returns the page with its table replaced."""
    head, rest = page.split(_BEGIN)
    tail = rest.split(_END)[1]
    return f"{head}{_BEGIN}\n{table(results)}\n{_END}{tail}"


def write(results: dict[str, Row]) -> None:
    """Writes the results and the page."""
    rows = {pair.name: results[pair.name] for pair in PAIRS if pair.name in results}
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    page = with_table(PAGE.read_text(encoding="utf-8"), rows)
    PAGE.write_text(page, encoding="utf-8")


def _line(pair: Pair, row: Row | None) -> str:
    if row is None:
        return f"| {pair.tensorflow} | {pair.python} | | | not run yet | | | |"
    versions, tests, train = row["versions"], row["checks"]["tests"], row["checks"]["train"]
    seconds = tests["cpu_seconds"] + train["cpu_seconds"]
    environment = row["environment"]
    cells = (
        versions["tensorflow"], versions["python"], versions["tf-keras"], versions["numpy"],
        f"{tests['passed']} passed, {len(tests['failed'])} failed",
        "failed" if train["failed"] else f"{train['passed']} steps",
        f"{seconds} s", f"{environment['seconds']} s, {environment['megabytes'] / 1000:.1f} GB",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"
