"""Checks of counts and times that users give."""

from __future__ import annotations

import contextlib
import numbers
import re
from typing import Any, NamedTuple

__all__ = [
    "IterationsPerLoop",
    "check_number",
    "check_positive_integer",
    "parse_iterations_per_loop",
]

_ITERATIONS = re.compile(r"(?P<value>[1-9][0-9]*)(?P<unit>[smh]?)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


class IterationsPerLoop(NamedTuple):
    """A parsed `iterations_per_loop`: a number of steps ("count") or of "seconds"."""

    value: int
    unit: str


def parse_iterations_per_loop(iterations_per_loop: int | str) -> IterationsPerLoop:
    """Parses a number of steps, or a time such as "30s", "5m" or "1h".

    Args:
      iterations_per_loop: a positive integer, or a positive integer with a unit of time.

    Returns:
      The value and its unit, times in seconds.

    Raises:
      ValueError: the value is neither.
    """
    match = _ITERATIONS.fullmatch(str(iterations_per_loop))
    if match is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value "
            "or time-based value `<N><s|m|h>`, as `3600s`, `60m` or `1h`; got "
            f"{iterations_per_loop!r}."
        )
    value, unit = int(match["value"]), match["unit"]
    return IterationsPerLoop(value * _SECONDS.get(unit, 1), "seconds" if unit else "count")


def check_number(name: str, value: Any) -> None:
    """Checks that a count or a time is a number; None is allowed.

    Raises:
      TypeError: the value is of another type, such as a string.
    """
    if value is None or isinstance(value, numbers.Real):
        return
    if getattr(value, "shape", None) == () and not hasattr(value, "graph"):
        return  # an array of one number compares as one
    advice = ""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            float(value)
            advice = f" Convert it first: {name}=int({value!r})."
    raise TypeError(f"{name} must be a number, given: {value!r} ({type(value).__name__}).{advice}")


def check_positive_integer(value: Any, name: str) -> None:
    """Checks that a count is a positive integer.

    Raises:
      TypeError: `value` is not an integer.
      ValueError: `value` is 0 or less.
    """
    if not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be int, got {type(value)}: {value!r}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
