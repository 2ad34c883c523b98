"""Makes the tables of pages from figures: those of docs/performance.md, and the README's."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.report import number, ratios
from benchmarks.workloads import WAYS, WORKLOADS

__all__ = ["markdown", "tables", "with_table", "with_tables"]

_BEGIN, _END = "<!-- figures: {} -->\n", "<!-- end of figures -->\n"
_OTHERS = ("original", "keras", "hand")


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
    """Returns the tables 'beside' (the other ways), 'settings' (the defaults) and 'cores'."""
    kinds = {workload.name: workload.program for workload in WORKLOADS}
    beside, settings, cores = [], [], []
    for name, workload in content["workloads"].items():
        for metric, by_way in workload["figures"].items():
            if kinds.get(name) == "settings":
                settings += _rows_beside("here", metric, by_way)
            elif kinds.get(name) == "cores":
                cores += _rows_beside("cores_1", metric, by_way)
            elif "here" in by_way and len(by_way) > 1:
                beside.append(_beside_row(workload["title"], metric, by_way))
    heads = {
        "beside": ["", "here", *(f"here / {WAYS[way]}" for way in _OTHERS)],
        "settings": ["setting", "steps/s", "of the default's"],
        "cores": ["cores", "steps/s", "of one core's"],
    }
    rows = {"beside": beside, "settings": settings, "cores": cores}
    return {name: markdown(heads[name], rows[name]) for name in rows if rows[name]}


def _beside_row(title: str, metric: str, by_way: dict[str, list[float]]) -> list[str]:
    cells = [f"{title}: {metric}", number(statistics.median(by_way["here"]))]
    for way in _OTHERS:
        cells.append(_ratio(by_way["here"], by_way[way]) if way in by_way else "")
    return cells


def _rows_beside(base: str, metric: str, by_way: dict[str, list[float]]) -> list[list[str]]:
    if metric != "steps/s":
        return []
    return [
        [WAYS[way], number(statistics.median(values)), _ratio(values, by_way[base])]
        for way, values in by_way.items()
        if way != base
    ]


def _ratio(one: list[float], other: list[float]) -> str:
    found = ratios(one, other)
    return f"{statistics.median(found):.2f} ({found[0]:.2f} to {found[-1]:.2f})"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
