"""Prints the harness's results on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from parity.harness.outcomes import FAILED, PASSED, SKIPPED, FileResult, Outcome
from parity.harness.records import Scores

__all__ = ["print_failure", "print_progress", "print_table"]

_UNKNOWN = "?"
_HEADINGS = ("file", "mode", "original", "here", "failed public", "failed private", "skipped")


def print_progress(result: FileResult, number: int, runs: int, seconds: float) -> None:
    """Prints one line when a file is done.

    Args:
      result: the result of the file in a mode.
      number: the number of this run, from 1.
      runs: the number of all runs.
      seconds: the duration of this run.
    """
    counts = (f"{result.count(kind)} {kind}" for kind in (PASSED, FAILED, SKIPPED))
    print(
        f"[{number}/{runs}] {result.file} ({result.mode}): {', '.join(counts)}; {seconds:.0f} s",
        flush=True,
    )


def print_failure(outcome: Outcome, lines: int = 6) -> None:
    """Prints the end of a failed test's output."""
    uses = f" [uses {', '.join(outcome.privates)}]" if outcome.privates else ""
    print(f"  {outcome.test}{uses}", flush=True)
    for line in outcome.detail.splitlines()[-lines:]:
        print(f"    {line[:300]}", flush=True)


def print_table(results: Sequence[FileResult], original: Scores) -> None:
    """Prints all files and modes, with their sums."""
    rows = [_row(result, original) for result in results]
    sums = [sum(int(row[i]) for row in rows if row[i] != _UNKNOWN) for i in range(2, 7)]
    texts = [[str(cell) for cell in row] for row in [_HEADINGS, *rows, ("all", "", *sums)]]
    widths = [max(len(row[i]) for row in texts) for i in range(len(_HEADINGS))]
    for row in texts:
        cells = (
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        print("  ".join(cells).rstrip())


def _row(result: FileResult, original: Scores) -> tuple[str | int, ...]:
    theirs = original.get(result.file, {}).get(result.mode, {}).get("passed", _UNKNOWN)
    return (
        result.file,
        result.mode,
        theirs,
        result.count(PASSED),
        result.count(FAILED, "public"),
        result.count(FAILED, "private"),
        result.count(SKIPPED),
    )
