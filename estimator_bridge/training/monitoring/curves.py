"""Draws curves over the steps of a run as SVG, in the colors of a page."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from html import escape

__all__ = ["STYLE", "Curve", "chart"]

STYLE = """
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); }
.charts { gap: 1rem; } .chart:only-child { max-width: 46rem; }
.chart { margin: .6rem 0 0; } .chart svg { width: 100%; height: auto; display: block; }
.chart figcaption { font-weight: 600; font-size: .9rem; }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.chart path { fill: none; stroke-width: 1.8; }
.chart .line-one { stroke: var(--one); } .chart .line-two { stroke: var(--two); }
.chart .dot-one { fill: var(--one); } .chart .dot-two { fill: var(--two); }
.chart .key { margin: .1rem 0; }
"""

_WIDTH, _HEIGHT = 440, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 10, 24
_MOST_POINTS = 400
_FEW = 40  # points of a curve that are marked, since the lines between them say little


@dataclasses.dataclass(frozen=True)
class Curve:
    """The values of one name.

    Attributes:
      name: the name in the key.
      points: steps and values, in order.
      color: "one" or "two".
    """

    name: str
    points: Sequence[tuple[int, float]]
    color: str = "one"


def chart(
    title: str,
    curves: Sequence[Curve],
    format_value: Callable[[float], str],
    from_zero: bool = False,
) -> str:
    """Returns a figure; "" if no curve has a finite value.

    Args:
      title: the caption, as text.
      curves: drawn over each other.
      format_value: formats a value of the axis.
      from_zero: whether the axis starts at 0, as for rates and shares.
    """
    finite = [
        dataclasses.replace(c, points=_thin_out([p for p in c.points if math.isfinite(p[1])]))
        for c in curves
    ]
    finite = [curve for curve in finite if curve.points]
    if not finite:
        return ""
    steps = [step for curve in finite for step, _ in curve.points]
    values = [value for curve in finite for _, value in curve.points]
    low, high = _range([0.0, *values] if from_zero else values)
    first, last = min(steps), max(steps)

    def place(step: float, value: float) -> tuple[float, float]:
        across = 0.5 if last == first else (step - first) / (last - first)
        up = (value - low) / (high - low)
        x = _LEFT + across * (_WIDTH - _LEFT - _RIGHT)
        return x, _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    marks = []
    for value in (low, (low + high) / 2, high):
        _, y = place(first, value)
        marks.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
            f"{escape(format_value(value))}</text>"
        )
    ends = [(first, "start"), (last, "end")] if last > first else [(first, "middle")]
    for step, anchor in ends:
        x, _ = place(step, low)
        marks.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">step {step:,}</text>'
        )
    lines = []
    for curve in finite:
        spots = [place(*point) for point in curve.points]
        path = " ".join(
            f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(spots)
        )
        lines.append(f'<path class="line-{curve.color}" d="{path}"/>')
        if len(spots) <= _FEW:
            lines += [
                f'<circle class="dot-{curve.color}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>'
                for x, y in spots
            ]
    key = "".join(
        f'<span><i class="{curve.color}"></i>{escape(curve.name)}</span>' for curve in finite
    )
    return (
        f'<figure class="chart"><figcaption>{escape(title)}</figcaption>'
        + (f'<div class="key">{key}</div>' if len(finite) > 1 else "")
        + f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        + "".join(marks + lines)
        + "</svg></figure>"
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if high == low:
        return low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5)
    return low, high


def _thin_out(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Returns at most so many points: of each stretch, the first, the lowest and the highest."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    length = math.ceil(3 * len(points) / _MOST_POINTS)
    points_to_draw = {points[-1]}
    for start in range(0, len(points), length):
        stretch = points[start : start + length]
        points_to_draw |= {stretch[0], min(stretch, key=_value), max(stretch, key=_value)}
    return sorted(points_to_draw)


def _value(point: tuple[int, float]) -> float:
    return point[1]
