"""Counts the faults of a case that were tried and that held, and their outcomes."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

__all__ = ["summarize_case", "table"]


def summarize_case(
    outcomes: Sequence[Mapping[str, Any]],
    is_correct: Callable[[Mapping[str, Any]], bool],
    describe: Callable[[Mapping[str, Any]], str],
) -> dict[str, Any]:
    """Sums up a case.

    Args:
      outcomes: one for each fault.
      is_correct: returns whether an outcome is correct.
      describe: returns an outcome in a few words.

    Returns:
      The number `tried`, the `count` of those that held, whether all `held`, the outcomes `told`
      with their counts, and `known`, which is False.
    """
    count = sum(map(is_correct, outcomes))
    return {
        "tried": len(outcomes),
        "count": count,
        "held": count == len(outcomes),
        "known": False,
        "told": dict(collections.Counter(map(describe, outcomes))),
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
    attempts, pass_count = (sum(case[key] for case in here.values()) for key in ("tried", "count"))
    yield f"{pass_count} of {attempts} held."


def _in_words(counts_by_text: Mapping[str, int]) -> str:
    if len(counts_by_text) == 1:
        return next(iter(counts_by_text))
    return "; ".join(f"{count}x {text}" for text, count in sorted(counts_by_text.items()))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
