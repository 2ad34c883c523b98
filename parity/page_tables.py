"""Puts a table into a page of docs/ that says by two comments where it goes."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["with_table"]


def with_table(page: str, begin: str, end: str, lines: Iterable[str]) -> str:
    """Returns a page with these lines between its two comments.

    Raises:
      ValueError: the comments are not there.
    """
    before, has_begin, rest = page.partition(begin)
    _, has_end, after = rest.partition(end)
    if not has_begin or not has_end:
        raise ValueError(f"The page has no {begin} and {end}, between which the table goes.")
    return "\n".join([before + begin, *lines, end + after])
