"""Compares two outcomes of a case, number by number."""

from __future__ import annotations

import json
import math
from typing import Any

from parity.differential.outcome import ERROR, NO_LESS, NO_MORE, REMARK

__all__ = ["differences"]

RELATIVE, ABSOLUTE = 2e-5, 2e-6  # what two builds of TensorFlow differ by in a few float32 steps


def differences(original: Any, here: Any, place: str = "") -> list[str]:
    """Compares two outcomes.

    Numbers may differ by ``RELATIVE`` or ``ABSOLUTE``; an error's class here may be a subclass of
    the original's; remarks are not compared. Of bounds (``outcome.no_more``), numbers here may be
    on the one side.

    Args:
      original: the outcome under TensorFlow's own Estimator.
      here: the outcome here.
      place: where in the outcome these are.

    Returns:
      A line for each difference; none if they agree.
    """
    if isinstance(original, dict) and isinstance(here, dict):
        return _of_dicts(original, here, place)
    if isinstance(original, list) and isinstance(here, list):
        if len(original) != len(here):
            return [f"{place}: {_short(original)}, here {_short(here)}"]
        pairs = enumerate(zip(original, here))
        return [line for i, (x, y) in pairs for line in differences(x, y, f"{place}[{i}]")]
    return [] if _same(original, here) else [f"{place}: {_short(original)}, here {_short(here)}"]


def _of_dicts(original: dict, here: dict, place: str) -> list[str]:
    lines = []
    for key in sorted({*original, *here}):
        if key not in original:
            lines.append(f"{place}/{key}: only here: {_short(here[key])}")
        elif key not in here:
            lines.append(f"{place}/{key}: only in the original: {_short(original[key])}")
        else:
            lines += _of_values(key, original[key], here[key], f"{place}/{key}")
    return lines


def _of_values(key: str, original: Any, here: Any, place: str) -> list[str]:
    """Compares the values of a key; those of a bound as such."""
    if key not in (NO_LESS, NO_MORE):
        return differences(original, here, place)
    if isinstance(original, list) and isinstance(here, list) and len(original) == len(here):
        pairs = enumerate(zip(original, here))
        return [line for i, (x, y) in pairs for line in _of_values(key, x, y, f"{place}[{i}]")]
    numbers = all(isinstance(x, (int, float)) for x in (original, here))
    if numbers and (here <= original if key == NO_MORE else here >= original):
        return []
    return [f"{place}: {_short(original)}, here {_short(here)}"]


def _same(original: Any, here: Any) -> bool:
    if isinstance(original, str) and isinstance(here, str):
        if original.startswith(ERROR) and here.startswith(ERROR):
            classes = here[len(ERROR) :].split(" < ")
            return original[len(ERROR) :].split(" < ")[0] in classes
        return original.split(REMARK)[0] == here.split(REMARK)[0]
    numbers = [isinstance(x, (int, float)) and not isinstance(x, bool) for x in (original, here)]
    if all(numbers):
        return math.isclose(original, here, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(original) is type(here) and original == here


def _short(value: Any) -> str:
    return json.dumps(value)[:500]
