"""The parts of a self-contained HTML page: document, tables, bars, large figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from estimator_bridge.compile_for.html_style import STYLE

__all__ = ["bar", "count_of", "document", "figures_row", "share", "table"]


def document(title: str, body: Iterable[str], style: str = "") -> str:
    """Returns a page.

    Args:
      title: the title, as text.
      body: HTML; empty parts are left out.
      style: CSS beyond that of every page.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>\n"
    )


def figures_row(figures: Iterable[tuple[str, str]]) -> str:
    """Renders large figures, each with its meaning below, as text."""
    cells = (
        f"<div><b>{escape(value)}</b><span>{escape(meaning)}</span></div>"
        for value, meaning in figures
    )
    return f'<div class="figures">{"".join(cells)}</div>'


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Renders a table; columns with a name that starts with '#' hold numbers."""
    kinds = [' class="n"' if name.startswith("#") else "" for name in names]
    head = "".join(f"<th{kind}>{name.lstrip('#')}</th>" for name, kind in zip(names, kinds))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def bar(parts: Iterable[tuple[str, float]]) -> str:
    """Renders a bar of parts, each a color and its share of the whole."""
    cells = "".join(
        f'<i class="{color}" style="width:{min(part, 1.0):.3%}"></i>'
        for color, part in parts
        if part > 0
    )
    return f'<div class="bar">{cells}</div>'


def share(part: float) -> str:
    """Formats a share as a percentage."""
    return "less than 0.1%" if 0 < part < 0.001 else f"{part:.1%}"


def count_of(count: int, noun: str) -> str:
    """Formats a number of things, in the singular or the plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
