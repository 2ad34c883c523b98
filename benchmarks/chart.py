"""Draws a chart of the figures: here, as a multiple of each other way."""

from __future__ import annotations

import io
import statistics
from typing import Any

from benchmarks.report import is_rate, ratios, write_whole
from benchmarks.workloads import WAYS

__all__ = ["bars", "draw"]

_COLORS = {
    "original": "#c44e52",
    "tf1": "#dd8452",
    "keras": "#8172b3",
    "jax": "#937860",
    "hand": "#55a868",
    "bare": "#8c8c8c",
}


def bars(workloads: dict[str, Any]) -> list[tuple[str, str, float, float, float]]:
    """Returns (title, way, median, least, most) of the rate of 'here' relative to each way.

    Times are inverted, so that more is better in all of them.
    """
    rows = []
    for workload in workloads.values():
        for metric, by_way in workload["figures"].items():
            is_time = metric.endswith(" s")
            if "here" not in by_way or not (is_rate(metric) or is_time):
                continue
            if any(way.startswith("xla") for way in by_way):
                continue  # the loop without XLA again
            title = workload["title"] if metric == "steps/s" else f"{workload['title']}: {metric}"
            for way in _COLORS:
                if way in by_way:
                    one = ratios(by_way["here"], by_way[way])
                    values = sorted(1 / r for r in one) if is_time else one
                    rows.append((title, way, statistics.median(values), values[0], values[-1]))
    return rows


def draw(path: str, workloads: dict[str, Any], note: str) -> None:
    """Writes the chart, as SVG."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    rows = bars(workloads)
    titles = list(dict.fromkeys(title for title, *_ in rows))
    figure = Figure(figsize=(9, 1.5 + 0.6 * len(titles)), layout="constrained")
    axes = figure.subplots()
    for i, way in enumerate(_COLORS):
        mine = [bar for bar in rows if bar[1] == way]
        if not mine:
            continue
        places = [titles.index(bar[0]) + (i - 2.5) * 0.15 for bar in mine]
        middles = [bar[2] for bar in mine]
        spread = [[m - bar[3] for m, bar in zip(middles, mine)],
                  [bar[4] - m for m, bar in zip(middles, mine)]]  # fmt: skip
        axes.barh(places, middles, 0.14, xerr=spread, color=_COLORS[way], label=WAYS[way],
                  error_kw={"elinewidth": 0.8, "ecolor": "#444444"})  # fmt: skip
    axes.axvline(1, color="#222222", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(titles)), titles, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(
        "Throughput of estimator_bridge relative to others (median, minimum, maximum of rounds)"
    )
    axes.set_title(note, fontsize=9)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    buffer = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    write_whole(path, buffer.getvalue())
