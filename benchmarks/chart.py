"""Draws the headline figures: how many times as fast as each other way."""

from __future__ import annotations

import io
import statistics
from typing import Any

from benchmarks.report import interval, is_rate, ratios, write_whole
from benchmarks.workloads import HEADLINES, WAYS

__all__ = ["draw", "points"]

_COLORS = {
    "original": "#c44e52",
    "tf1": "#dd8452",
    "keras": "#8172b3",
    "jax": "#937860",
    "hand": "#55a868",
    "bare": "#8c8c8c",
}


def points(workloads: dict[str, Any]) -> list[tuple[str, str, float, float, float]]:
    """Returns (title, way, median, low, high) of the pace of 'here' relative to each way.

    The last two are the interval of the median. Times are inverted, so that more is better.
    """
    rows = []
    for name, metric, title in HEADLINES:
        by_way = workloads.get(name, {}).get("figures", {}).get(metric, {})
        for way in (way for way in _COLORS if way in by_way and "here" in by_way):
            values = ratios(by_way["here"], by_way[way])
            values = values if is_rate(metric) else sorted(1 / value for value in values)
            rows.append((title, way, statistics.median(values), *interval(values)))
    return rows


def draw(path: str, workloads: dict[str, Any], note: str) -> None:
    """Writes the chart, as SVG: a row for each headline, a dot for each way."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    rows = points(workloads)
    titles = list(dict.fromkeys(title for title, *_ in rows))
    figure = Figure(figsize=(8, 1.6 + 0.42 * len(titles)), layout="constrained")
    axes = figure.subplots()
    for title in titles:
        own = [row for row in rows if row[0] == title]
        for i, (_, way, middle, low, high) in enumerate(own):
            place = titles.index(title) + 0.12 * (i - (len(own) - 1) / 2)
            axes.plot([low, high], [place, place], color=_COLORS[way], linewidth=1)
            axes.plot([middle], [place], "o", color=_COLORS[way], markersize=5)
    for way in (way for way in _COLORS if any(row[1] == way for row in rows)):
        axes.plot([], [], "o", color=_COLORS[way], label=WAYS[way])
    axes.axvline(1, color="#222222", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([0.25, 0.5, 1, 2, 4, 8, 16, 32]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}x"))
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_yticks(range(len(titles)), titles)
    axes.invert_yaxis()
    axes.set_title("Pace of estimator_bridge: as many times as fast as", fontsize=11)
    axes.set_xlabel(f"median, and its 95 % interval ({note})", fontsize=8)
    if rows:
        figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    buffer = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    write_whole(path, buffer.getvalue())
