"""Makes the tables of pages from figures: those of docs/performance.md and of models/README.md."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.report import interval, number, ratios
from benchmarks.workloads import WAYS, WORKLOADS

__all__ = ["markdown", "tables", "with_table", "with_tables"]

_BEGIN, _END = "<!-- figures: {} -->\n", "<!-- end of figures -->\n"
_OTHERS = ("original", "tf1", "keras", "jax", "hand", "bare", "again")
_XLA = ("xla", "xla_auto", "hand", "bare_xla")
_GROWTH = ("x4", "x16", "x64")


def with_tables(page: str, content: dict[str, Any]) -> str:
    """Returns the page with its tables replaced; text outside of their marks is unchanged.

    Args:
      page: the text of docs/performance.md.
      content: the content of the figures' JSON file.
    """
    for name, table in tables(content).items():
        page = with_table(page, name, table)
    return page


def with_table(page: str, name: str, table: str) -> str:
    """Returns the page with a table replaced.

    Args:
      page: the text of a page.
      name: the name in the table's mark, "<!-- figures: NAME -->".
      table: the text between this mark and "<!-- end of figures -->".

    Raises:
      ValueError: the page has no such marks.
    """
    begin = _BEGIN.format(name)
    before, mark, rest = page.partition(begin)
    if not mark:
        raise ValueError(f"The page has no line {begin.strip()!r} to put the table below.")
    _, mark, after = rest.partition(_END)
    if not mark:
        raise ValueError(f"The table {name!r} of the page has no {_END.strip()!r} after it.")
    return f"{before}{begin}{table}{_END}{after}"


def tables(content: dict[str, Any]) -> dict[str, str]:
    """Returns the tables by name; see ``Workload.table``."""
    places = {workload.name: workload.table for workload in WORKLOADS}
    figures = [by_way for w in content["workloads"].values() for by_way in w["figures"].values()]
    others = [way for way in _OTHERS if any(way in by_way for by_way in figures)]
    heads = {**_HEADS, "beside": ["", "here", *(f"here / {WAYS[way]}" for way in others)]}
    rows: dict[str, list[list[str]]] = {name: [] for name in _HEADS}
    for name, workload in content["workloads"].items():
        table = places.get(name, "beside")
        for metric, by_way in workload["figures"].items():
            if table in _BASES:
                rows[table] += _rows_beside(_BASES[table], metric, by_way)
            elif table == "xla":
                rows[table] += _xla_rows(workload["title"], metric, by_way)
            elif table == "growth":
                rows[table] += _growth_rows(workload["title"], metric, by_way)
            elif "here" in by_way and len(by_way) > 1:
                rows[table].append(_beside_row(workload["title"], metric, by_way, others))
    return {name: markdown([*heads[name], "rounds"], rows[name]) for name in rows if rows[name]}


_BASES = {"settings": "here", "cores": "cores_1"}
_HEADS = {
    "beside": [],  # by the ways that were measured
    "settings": ["setting", "steps/s", "of the default's"],
    "xla": ["", "not compiled, steps/s", *(f"{WAYS[way]} / not compiled" for way in _XLA)],
    "growth": ["cost of", "1x, ms", *(WAYS[way] for way in _GROWTH), "exponent"],
    "cores": ["cores", "steps/s", "of one core's"],
}


def _xla_rows(title: str, metric: str, by_way: dict[str, list[float]]) -> list[list[str]]:
    if metric != "steps/s" or "here" not in by_way:
        return []
    plain = by_way["here"]
    cells = [_ratio(by_way[way], plain) if way in by_way else "" for way in _XLA]
    return [[title, number(statistics.median(plain)), *cells, _rounds(plain)]]


def _growth_rows(title: str, metric: str, by_way: dict[str, list[float]]) -> list[list[str]]:
    """Costs as multiples of the smallest's; a rate is turned into the time of a step."""
    timed = "steps/s", "to first step beside model_fn, s", "trace, s"
    if "x1" not in by_way or not metric.endswith(timed):
        return []
    is_rate = metric == "steps/s"
    costs = {way: [1 / v if is_rate else v for v in values] for way, values in by_way.items()}
    cells = [_ratio(costs[way], costs["x1"]) if way in costs else "" for way in _GROWTH]
    median = number(1000 * statistics.median(costs["x1"]))
    return [[title, median, *cells, f"{_exponent(costs):.2f}", _rounds(costs["x1"])]]


def _exponent(costs: dict[str, list[float]]) -> float:
    """Returns the power of the size by which the cost grows between the two largest sizes."""
    least, most = sorted(int(way[1:]) for way in costs)[-2:]
    factor = statistics.median(ratios(costs[f"x{most}"], costs[f"x{least}"]))
    return math.log(factor) / math.log(most / least)


def _beside_row(
    title: str, metric: str, by_way: dict[str, list[float]], others: Sequence[str]
) -> list[str]:
    cells = [f"{title}: {metric}", number(statistics.median(by_way["here"]))]
    for way in others:
        cells.append(_ratio(by_way["here"], by_way[way]) if way in by_way else "")
    return [*cells, _rounds(by_way["here"])]


def _rows_beside(base: str, metric: str, by_way: dict[str, list[float]]) -> list[list[str]]:
    if metric != "steps/s":
        return []
    return [
        [
            WAYS[way],
            number(statistics.median(values)),
            _ratio(values, by_way[base]),
            _rounds(values),
        ]
        for way, values in by_way.items()
        if way != base
    ]


def _rounds(values: list[float]) -> str:
    return str(len(values))


def _ratio(one: list[float], other: list[float]) -> str:
    values = ratios(one, other)
    low, high = interval(values)
    return f"{statistics.median(values):.2f} ({low:.2f} to {high:.2f})"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
