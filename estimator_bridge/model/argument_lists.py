"""Checks arguments that are lists of one kind of object: hooks and listeners."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["checked_items"]


def checked_items(
    items: Iterable[Any] | None, kind: type, requirement: str, field: str = ""
) -> tuple[Any, ...]:
    """Returns the items as a tuple; () for None.

    Args:
      items: the user's argument.
      kind: the class that each item must be an instance of.
      requirement: the beginning of the error, in the original's words.
      field: the spec's field that the items were passed as, if any.

    Raises:
      TypeError: `items` is not iterable, or an item is not of that kind.
    """
    where = f" in {field}" if field else ""
    if items is not None and not isinstance(items, Iterable):
        name = type(items).__name__
        advice = f"put it into a list: [{name}(...)]" if isinstance(items, kind) else "pass a list"
        raise TypeError(
            f"{requirement}, given: {items!r}{where} ({name}), which is not a list; {advice}."
        )
    result = () if items is None else tuple(items)
    for item in result:
        if isinstance(item, kind):
            continue
        if isinstance(item, type):
            raise TypeError(
                f"{requirement}, given: {item!r}{where}, which is a class. Pass an instance of it: "
                f"{item.__name__}(...)."
            )
        raise TypeError(f"{requirement}, given: {item!r}{where} ({type(item).__name__}).")
    return result
