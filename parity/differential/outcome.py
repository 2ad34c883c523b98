"""Turns what a case returns or raises into JSON that two TensorFlows can be compared by."""

from __future__ import annotations

import json
import re
import tempfile
from typing import Any

import numpy as np

__all__ = [
    "ERROR",
    "NO_LESS",
    "NO_MORE",
    "REMARK",
    "class_and_bases",
    "error_of",
    "no_less",
    "no_more",
    "of",
    "plain",
]

ERROR = "raised "  # begins an error's classes: the type itself, then its bases
REMARK = "remark: "  # begins a text that is shown, and never compared
NO_LESS, NO_MORE = (
    "no less than",
    "no more than",
)  # keys of bounds: of numbers here, by the original
_LARGE = 1000


def plain(value: Any) -> Any:
    """Returns a value as JSON has it: arrays as lists, large ones as their shape and sum."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, np.bytes_)):
        return value.decode("utf8", "backslashreplace")
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return f"{type(value).__name__}: {REMARK}{str(value)[:200]}"


def _array(value: np.ndarray) -> Any:
    if value.size > _LARGE:
        is_number = value.dtype.kind in "fiu"
        total = float(np.sum(value.astype(np.float64))) if is_number else None
        return ["large", list(value.shape), total]
    if value.ndim == 0:
        return plain(value.item())
    return [plain(item) for item in value]


def no_less(value: Any) -> dict[str, Any]:
    """Returns numbers that agree with the original's if none of them is less."""
    return {NO_LESS: value}


def no_more(value: Any) -> dict[str, Any]:
    """Returns numbers that agree with the original's if none of them is more."""
    return {NO_MORE: value}


def class_and_bases(error: BaseException) -> str:
    """Returns an error's class and its bases, most derived first."""
    names = [kind.__name__ for kind in type(error).__mro__ if kind is not object]
    return ERROR + " < ".join(names)


def error_of(function: Any, *args: Any, **kwargs: Any) -> list:
    """Calls a function.

    Returns:
      ``["value", what it returned]``, or ``["error", its classes, its message as a remark]``.
    """
    try:
        return ["value", plain(function(*args, **kwargs))]
    except BaseException as error:
        return ["error", class_and_bases(error), REMARK + str(error)[:400]]


def of(function: Any, folder: str) -> Any:
    """Runs a case.

    Args:
      function: the case.
      folder: an empty folder of its own.

    Returns:
      Its outcome, without the names of temporary folders, and the seconds in those of exports.
    """
    try:
        outcome = plain(function(folder))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        outcome = {"raised": class_and_bases(error), "message": REMARK + str(error)[:1500]}
    place = re.escape(tempfile.gettempdir()) + r"/[\w.-]{8,}"
    text = re.sub(place, "FOLDER", json.dumps(outcome))
    return json.loads(re.sub(r"(FOLDER[\w/.-]*/)\d{10}\b", r"\1SECOND", text))  # of an export
