"""Writes ``REPORT.md``: the largest difference of each measure of each program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from parity.rows import CONTINUED, FACTS, NUMBERS, Row

__all__ = ["REPORT", "text"]

REPORT = Path(__file__).parent / "REPORT.md"

_HEAD = """\
# The same programs under TensorFlow 2.15 and here

Written by `make parity`. The programs are in `parity/programs/`;
[docs/parity.md](../docs/parity.md) describes the comparison.
TensorFlow {original} with its own Estimator; TensorFlow {here} with this library.

## Numbers

The largest difference of any number, relative to the original's absolute value, plus one except for
losses. 0 means equal, bit by bit.
"""
_LOADED = """
## Checkpoints of the other side

Each side loads the other's last checkpoint, evaluates it, and trains 5 more steps; the numbers are
compared with the writer's own. `here` has this library's, from the original's checkpoint. A cell is
empty if the program draws random numbers: the original begins its random streams anew in each run.
"""
_FACTS = """
## Names and files

Equal, or the number of differences.
"""
_OUTER_LOOP = """
## train_and_evaluate

Its results, checkpoints, exports and event files.
"""
_OFF = """
## After tf.disable_v2_behavior()

Both sides once more, as most TF1 programs ran.
"""


def text(
    rows: Mapping[str, list[Row]], off: Mapping[str, list[Row]], original: str, here: str
) -> str:
    """Returns the report.

    Args:
      rows: program to its rows.
      off: the same for the run after ``tf.disable_v2_behavior()``.
      original: the original's version of TensorFlow.
      here: this side's version.

    Returns:
      The page, in Markdown.
    """
    limits = {measure: f"at most {limit:.0e}" for measure, (_, _, limit) in NUMBERS.items()}
    outer_loop = {m: limits.pop(m, "") for m in (*NUMBERS, *FACTS) if "train_and_evaluate" in m}
    parts = [_HEAD.format(original=original, here=here)]
    parts += _table(rows, limits)
    parts.append(_LOADED)
    parts += _table(rows, {m: f"at most {limit:.0e}" for m, limit in CONTINUED.items()})
    parts.append(_FACTS)
    parts += _table(rows, {measure: "" for measure in FACTS if measure not in outer_loop})
    parts.append(_OUTER_LOOP)
    parts += _table(rows, outer_loop)
    parts.append(_OFF)
    parts += _table(off, limits)
    parts += ["", *_table(off, {measure: "" for measure in FACTS if measure not in outer_loop})]
    failed = [
        f"- {program}, {row.measure}: {row.worst}"
        for program, of_program in [*rows.items(), *off.items()]
        for row in of_program
        if not row.holds
    ]
    if failed:
        parts.append("\n## Differences above the tolerance\n\n" + "\n".join(failed))
    return "\n".join(parts) + "\n"


def _table(rows: Mapping[str, list[Row]], columns: Mapping[str, str]) -> Iterator[str]:
    yield "| program | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    if any(columns.values()):
        yield "| | " + " | ".join(columns.values()) + " |"
    for program, of_program in rows.items():
        found = {row.measure: row for row in of_program}
        if not columns.keys() & found.keys():
            continue
        cells = [_cell(found[column]) if column in found else "" for column in columns]
        yield f"| {program} | " + " | ".join(cells) + " |"


def _cell(row: Row) -> str:
    if row.measure in FACTS:
        shown = f"{row.difference:.0f} differ" if row.difference else "equal"
    else:
        shown = f"{row.difference:.1e}" if row.difference else "0"
    return shown if row.holds else f"**{shown}**"
