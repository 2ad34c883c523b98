"""Dimensions that TensorFlow 1 accepted: 3.0 for 3, as Python 3's `/` returns it, and "3"."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

__all__ = ["accept_old_dimensions"]


def accept_old_dimensions() -> None:
    """Lets shapes be made from whole floats (NumPy's too) and from texts; 2.5 remains an error.

    Programs split a flag such as "512,256" and pass its parts on as numbers of units.
    """
    dimension = tf.compat.v1.Dimension
    if not hasattr(dimension.__init__, "__wrapped__"):
        dimension.__init__ = _with_old_values(dimension.__init__)


def _with_old_values(init: Any) -> Any:
    @functools.wraps(init)
    def with_old_values(self: Any, value: Any) -> None:
        if isinstance(value, (str, bytes)):
            value = int(value)
        is_whole = hasattr(value, "is_integer") and not hasattr(value, "__index__")
        init(self, int(value) if is_whole and value.is_integer() else value)

    return with_old_values
