"""Counts the faults of a case that were tried and that held, and their outcomes."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

__all__ = ["counted", "table"]


def counted(
    outcomes: Sequence[Mapping[str, Any]],
    held: Callable[[Mapping[str, Any]], bool],
    told: Callable[[Mapping[str, Any]], str],
) -> dict[str, Any]:
    """Sums up a case.

    Args:
      outcomes: one for each fault.
      held: returns whether an outcome is correct.
      told: returns an outcome in a few words.

    Returns:
      The number `tried`, the `count` of those that held, whether all `held`, the outcomes `told`
      with their counts, and `known`, which is False.
    """
    count = sum(map(held, outcomes))
    return {
        "tried": len(outcomes),
        "count": count,
        "held": count == len(outcomes),
        "known": False,
        "told": dict(collections.Counter(map(told, outcomes))),
    }


def table(here: Mapping[str, Any], original: Mapping[str, Any]) -> Iterable[str]:
    """Yields the lines of a table in Markdown, a row a case."""
    heads = ["fault", "tried", "held", "what happened", *(["the original"] if original else [])]
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for case, outcome in here.items():
        theirs = []
        if original:
            other = original.get(case)
            theirs = [_in_words(other["told"]) if other else "not tried"]
        cells = [case, outcome["tried"], outcome["count"], _in_words(outcome["told"]), *theirs]
        yield _row(map(str, cells))
    yield ""
    tried, held = (sum(case[key] for case in here.values()) for key in ("tried", "count"))
    yield f"{held} of {tried} held."


def _in_words(told: Mapping[str, int]) -> str:
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{count}x {what}" for what, count in sorted(told.items()))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
