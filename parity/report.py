"""Writes the reports: the largest difference of each measure of each program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from parity.rows import CONTINUED, FACTS, NUMBERS, REPEATED, Row

__all__ = ["REPORT", "REPORT_1X", "text", "text_1x", "write"]

REPORT = Path(__file__).parent / "REPORT.md"
REPORT_1X = Path(__file__).parent / "REPORT_1X.md"

_HEAD = """\
# The same programs under TensorFlow 2.15 and here

Written by `make parity`. The programs are in `parity/programs/`;
[docs/evidence/parity.md](../docs/evidence/parity.md) describes the comparison.
TensorFlow {original} with its own Estimator; TensorFlow {here} with this library.

## Numbers

The largest difference of any number, relative to the original's absolute value, plus one except for
losses. 0 means equal, bit by bit.
"""
_HEAD_1X = """\
# The same programs under TensorFlow 1.15 and here

Written by `python -m parity.compare --original PYTHON --report`, with a PYTHON that has TensorFlow
1.15.5. The programs are in `parity/programs/`;
[docs/evidence/parity.md](../docs/evidence/parity.md) describes the comparison. TensorFlow
{original} with its own Estimator and tf.contrib; TensorFlow {here} with this library. Both sides
run after `tf.disable_v2_behavior()`.

## Numbers

The largest difference of any number, relative to the original's absolute value, plus one except for
losses. 0 means equal, bit by bit.
"""
_REPEATED = """
## Races of the original

The original trained {runs} more times from the same checkpoint. If one of these runs has a number
that the first does not have, the program is a race there.
"""
_RACES = """
## Facts that vary in the original

The original does not write these alike in each run. Where a run of it differed from this side, it
ran again.

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
    limits, outer_loop = _columns()
    own_facts = {measure: "" for measure in FACTS if measure not in outer_loop}
    parts = [_HEAD.format(original=original, here=here), *_table(rows, limits)]
    parts += _continued(rows)
    parts += [_FACTS, *_table(rows, own_facts)]
    parts += [_OUTER_LOOP, *_table(rows, outer_loop)]
    parts += [_OFF, *_table(off, limits), "", *_table(off, own_facts)]
    return _joined(parts, [*rows.items(), *off.items()])


def text_1x(rows: Mapping[str, list[Row]], original: str, here: str) -> str:
    """Returns the report on TensorFlow 1.15.

    Args:
      rows: program to its rows.
      original: the original's version.
      here: this side's version of TensorFlow.

    Returns:
      The page, in Markdown.
    """
    limits, outer_loop = _columns()
    repeated = next(row for row in next(iter(rows.values())) if row.measure == REPEATED)
    parts = [_HEAD_1X.format(original=original, here=here), *_table(rows, limits)]
    parts += _continued(rows)
    parts += [_FACTS, *_table(rows, {m: "" for m in FACTS if m not in outer_loop})]
    parts += [_REPEATED.format(runs=int(repeated.tolerance)), *_table(rows, {REPEATED: ""})]
    return _joined(parts, list(rows.items()))


def write(
    rows: Mapping[str, list[Row]], off: Mapping[str, list[Row]], original: str, here: str
) -> None:
    """Writes the original's report; see `text`."""
    if original.startswith("1."):
        REPORT_1X.write_text(text_1x(rows, original, here), encoding="utf-8")
    else:
        REPORT.write_text(text(rows, off, original, here), encoding="utf-8")


def _columns() -> tuple[dict[str, str], dict[str, str]]:
    """Returns the measures of a table of numbers with their limits, and train_and_evaluate's."""
    limits = {measure: f"at most {limit:.0e}" for measure, (_, _, limit) in NUMBERS.items()}
    outer_loop = {m: limits.pop(m, "") for m in (*NUMBERS, *FACTS) if "train_and_evaluate" in m}
    return limits, outer_loop


def _continued(rows: Mapping[str, list[Row]]) -> list[str]:
    return [_LOADED, *_table(rows, {m: f"at most {limit:.0e}" for m, limit in CONTINUED.items()})]


def _joined(parts: list[str], rows: Iterable[tuple[str, list[Row]]]) -> str:
    rows = list(rows)
    failures = [
        f"- {program}, {row.measure}: {row.worst}"
        for program, of_program in rows
        for row in of_program
        if not row.holds
    ]
    races = [
        f"- {program}, {row.measure}: {row.worst}"
        for program, of_program in rows
        for row in of_program
        if row.measure in FACTS and row.holds and row.worst
    ]
    if races:
        parts = [*parts, _RACES + "\n".join(races)]
    if failures:
        parts = [*parts, "\n## Differences above the tolerance\n\n" + "\n".join(failures)]
    return "\n".join(parts) + "\n"


def _table(rows: Mapping[str, list[Row]], columns: Mapping[str, str]) -> Iterator[str]:
    yield "| program | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    if any(columns.values()):
        yield "| | " + " | ".join(columns.values()) + " |"
    for program, of_program in rows.items():
        rows_by_measure = {row.measure: row for row in of_program}
        if not columns.keys() & rows_by_measure.keys():
            continue
        cells = [
            _cell(rows_by_measure[column]) if column in rows_by_measure else ""
            for column in columns
        ]
        yield f"| {program} | " + " | ".join(cells) + " |"


def _cell(row: Row) -> str:
    if row.measure == REPEATED:
        return f"{row.difference:.0f} of {row.tolerance:.0f}"
    if row.measure in FACTS:
        cell_text = f"{row.difference:.0f} differ" if row.difference else "equal"
    else:
        cell_text = f"{row.difference:.1e}" if row.difference else "0"
    return cell_text if row.holds else f"**{cell_text}**"
