"""The page docs/evidence/conformance.md, and what generated parts of such a page are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["PAGE", "UNEXPLAINED", "page_with", "table_head"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "conformance.md"
UNEXPLAINED = "not explained yet"


def page_with(parts: dict[str, str], page: Path | None = None) -> str:
    """Returns a page with its generated parts replaced; two comments enclose each."""
    page = page or PAGE
    text = page.read_text(encoding="utf-8")
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, end_mark, after = rest.partition(end)
        if not end_mark:
            raise ValueError(f"{page.name} lacks the lines {begin} and {end}.")
        text = f"{before}{begin}\n{content}\n{end}{after}"
    return text


def table_head(headings: Sequence[str], texts: int) -> Iterator[str]:
    """Yields a table's first two lines; the first columns are texts, the others numbers."""
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * texts}{'--:|' * (len(headings) - texts)}"
