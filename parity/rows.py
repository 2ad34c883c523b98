"""Compares two records of one program, measure by measure. It needs no TensorFlow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from parity.record import Record

__all__ = [
    "CONTINUED",
    "FACTS",
    "NUMBERS",
    "REPEATED",
    "Row",
    "compare",
    "compare_continued",
    "compare_numbers",
    "compare_repeated",
    "with_races",
]


class Row(NamedTuple):
    """One measure of one program.

    Attributes:
      measure: the name of the measure.
      difference: the largest difference of a number; for facts the number of differences.
      tolerance: the largest allowed difference; 0 for facts.
      worst: the place of the largest difference, with both values; empty if nothing differs. In a
        row of facts that holds: how the original's own runs differ.
    """

    measure: str
    difference: float
    tolerance: float
    worst: str

    @property
    def holds(self) -> bool:
        """True if the difference is allowed; a NaN on one side is not."""
        return self.difference <= self.tolerance


# Measure: the kind of array here and in the original's record, and its tolerance.
NUMBERS = {
    "losses": ("losses", "losses", 1e-5),
    "first variables": ("start", "start", 1e-5),
    "last variables": ("weights", "weights", 1e-5),
    "last variables, in one loop": ("looped", "weights", 1e-5),
    "evaluation": ("evaluation", "evaluation", 1e-6),
    "predictions": ("predictions", "predictions", 1e-5),
    "served answers": ("served", "served", 1e-5),
    "results of train_and_evaluate": ("outer_loop", "outer_loop", 1e-6),
}
# Measure: the fact's name in the records.
FACTS = {
    "variables' names, types, shapes": "variables",
    "checkpoint file": "checkpoints",
    "files": "files",
    "event tags": "event_tags",
    "signatures": "signatures",
    "exported files": "export_files",
    "train_and_evaluate": "outer_loop",
}
# The side that loads the other's checkpoint, and the measure: its tolerance.
CONTINUED = {
    f"{reader}: {kind}": limit
    for reader in ("here", "original")
    for kind, limit in (("evaluation", 1e-6), ("losses", 1e-5), ("weights", 1e-5))
}
REPEATED = "other runs with other numbers"
_MISSING = "nothing"


def compare(actual: Record, expected: Record) -> list[Row]:
    """Returns the rows of one program.

    Args:
      actual: this library's record.
      expected: the original's record.

    Returns:
      A row for each of ``NUMBERS`` and ``FACTS``, in their order; those of train_and_evaluate
      only if the program calls it.
    """
    fact_names = {*expected.facts, *actual.facts}
    kinds = {name.partition("/")[0] for name in (*expected.arrays, *actual.arrays)}
    rows = [
        compare_numbers(
            measure, actual.under(here), expected.under(there), tolerance, there == "losses"
        )
        for measure, (here, there, tolerance) in NUMBERS.items()
        if {here, there} & kinds
    ]
    return rows + [
        _facts(measure, actual.facts.get(name), expected.facts.get(name))
        for measure, name in FACTS.items()
        if name in fact_names
    ]


def compare_continued(
    reader: str, actual: Record, expected: Record, only_values: bool
) -> list[Row]:
    """Returns the rows of a checkpoint from which both sides continued training.

    Args:
      reader: the side that did not write it: ``here`` or ``original``.
      actual: that side's record.
      expected: the writer's record.
      only_values: True leaves out the results of training, because the original begins its random
        streams anew there.

    Returns:
      The rows of ``CONTINUED`` of this reader.
    """
    kinds = ("evaluation",) if only_values else ("evaluation", "losses", "weights")
    return [
        compare_numbers(
            f"{reader}: {kind}",
            actual.under(kind),
            expected.under(kind),
            CONTINUED[f"{reader}: {kind}"],
            kind == "losses",
        )
        for kind in kinds
    ]


def compare_repeated(repeats: list[Record], first: Record) -> Row:
    """Returns how many further runs of the original differ from the first in a number.

    Any count is allowed: it says that the original races.
    """
    own_measures = [measure for measure, (here, there, _) in NUMBERS.items() if here == there]
    worst = [
        [row.worst for row in compare(run, first) if row.measure in own_measures and row.difference]
        for run in repeats
    ]
    differing = [rows for rows in worst if rows]
    where = differing[0][0] if differing else ""
    return Row(REPEATED, float(len(differing)), float(len(repeats)), where)


def with_races(rows: list[Row], actual: Record, repeats: list[Record]) -> list[Row]:
    """Returns rows in which a fact that varies from run to run of the original does not count.

    Args:
      rows: this side beside the original's first run.
      actual: this side's record.
      repeats: the records of further runs of the original.
    """
    return [
        _as_race(row, actual, repeats) if row.measure in FACTS and not row.holds else row
        for row in rows
    ]


def _as_race(row: Row, actual: Record, repeats: list[Record]) -> Row:
    name = FACTS[row.measure]
    equal = sum(run.facts.get(name) == actual.facts.get(name) for run in repeats)
    if not equal:
        return row
    note = f"{equal} of {len(repeats)} further runs of the original equal this side, its first not"
    return Row(row.measure, 0.0, 0.0, f"{note}: {row.worst}")


def compare_numbers(
    measure: str,
    actual: dict[str, np.ndarray],
    expected: dict[str, np.ndarray],
    tolerance: float,
    relative: bool = False,
) -> Row:
    """Returns the largest difference, relative to the wanted value, or to that plus one."""
    largest, worst = 0.0, ""
    for name in sorted({*actual, *expected}):
        difference, where = _difference(
            actual.get(name), expected.get(name), 0.0 if relative else 1.0
        )
        if difference > largest:
            largest, worst = difference, f"{name}{where}"
    return Row(measure, largest, tolerance, worst)


def _difference(
    actual: np.ndarray | None, expected: np.ndarray | None, floor: float
) -> tuple[float, str]:
    if actual is None or expected is None:
        return np.inf, f" exists on one side only: {'wanted' if actual is None else 'got'}"
    if actual.shape != expected.shape or actual.dtype.kind != expected.dtype.kind:
        return np.inf, (
            f": got {actual.dtype} of shape {actual.shape}, wanted {expected.dtype} of "
            f"{expected.shape}"
        )
    if actual.dtype.kind not in "fiub":
        unequal = int(np.sum(actual != expected))
        return (np.inf, f": {unequal} values differ") if unequal else (0.0, "")
    if not actual.size:
        return 0.0, ""
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.where(a == b, 0.0, np.abs(a - b) / (floor + np.abs(b)))
    distances = np.where(
        np.isnan(distances), np.where(np.isnan(a) & np.isnan(b), 0.0, np.inf), distances
    )
    place = np.unravel_index(int(np.argmax(distances)), distances.shape)
    index = f"[{', '.join(map(str, place))}]" if place else ""
    return float(distances[place]), f"{index}: got {actual[place]}, wanted {expected[place]}"


def _facts(measure: str, actual: Any, expected: Any) -> Row:
    differing = list(_unequal(actual, expected, ""))
    return Row(measure, float(len(differing)), 0.0, "; ".join(differing[:5]))


def _unequal(actual: Any, expected: Any, path: str):
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key in sorted({*actual, *expected}):
            yield from _unequal(
                actual.get(key, _MISSING), expected.get(key, _MISSING), f"{path}/{key}"
            )
    elif isinstance(actual, list) and isinstance(expected, list) and actual != expected:
        extra = [item for item in actual if item not in expected]
        missing = [item for item in expected if item not in actual]
        if extra or missing:
            yield f"{path or 'list'}: got {extra} instead of {missing}"
        else:
            yield f"{path or 'list'}: got {actual}, wanted {expected}"
    elif actual != expected:
        yield f"{path}: got {actual}, wanted {expected}"
