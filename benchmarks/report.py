"""Writes ratios as a table and as JSON."""

from __future__ import annotations

import json
import math
import os
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.workloads import WAYS

__all__ = ["interval", "is_rate", "lines", "number", "ratios", "write_json", "write_whole"]


def is_rate(metric: str) -> bool:
    """Returns whether more is better."""
    return metric.endswith("/s")


def ratios(here: list[float], other: list[float]) -> list[float]:
    """Returns here / other, a ratio a round, sorted."""
    return sorted(a / b for a, b in zip(here, other))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the interval that holds the true median with a probability of at least 95 %.

    It assumes nothing of the values but that they are independent: the k-th smallest and the k-th
    largest enclose the median unless fewer than k of the n values lie on one side of it, which a
    binomial distribution tells. With 6 to 8 values it is their range; fewer than 6 never reach
    95 %, and get their range too.
    """
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while rank < (count - 1) // 2:
        outside += 2 * math.comb(count, rank) / 2**count
        if outside > 0.05:
            break
        rank += 1
    first = max(rank - 1, 0)
    return ordered[first], ordered[-1 - first]


def lines(title: str, figures: dict[str, dict[str, list[float]]]) -> Iterable[str]:
    """Returns the report of a workload: each way's figures, and their ratios to the first way."""
    for metric, by_way in figures.items():
        first, *others = by_way
        if "here" in by_way:
            first, others = "here", [way for way in by_way if way != "here"]
        yield f"{title}: {metric}, median"
        yield f"    {WAYS.get(first, first):24}{number(statistics.median(by_way[first])):>12}"
        for way in others:
            values = ratios(by_way[first], by_way[way])
            low, high = interval(values)
            yield (
                f"    {WAYS.get(way, way):24}{number(statistics.median(by_way[way])):>12}   "
                f"here is {statistics.median(values):.2f} of it "
                f"({low:.2f} to {high:.2f})"
            )


def write_json(path: str, content: Any) -> None:
    """Writes JSON to a file atomically."""
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


def write_whole(path: str, content: bytes) -> None:
    """Writes bytes to a file atomically, through a temporary file beside it."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(content)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def number(value: float) -> str:
    """Returns a number with three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
