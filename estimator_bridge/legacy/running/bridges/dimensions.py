"""Float dimensions: TensorFlow 1 accepted 3.0 for 3, as Python 3's `/` returns it."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

__all__ = ["accept_float_dimensions"]


def accept_float_dimensions() -> None:
    """Lets shapes be made from whole floats (NumPy's too); 2.5 remains an error."""
    dimension = tf.compat.v1.Dimension
    if not hasattr(dimension.__init__, "__wrapped__"):
        dimension.__init__ = _with_floats(dimension.__init__)


def _with_floats(init: Any) -> Any:
    @functools.wraps(init)
    def with_floats(self: Any, value: Any) -> None:
        is_whole = hasattr(value, "is_integer") and not hasattr(value, "__index__")
        init(self, int(value) if is_whole and value.is_integer() else value)

    return with_floats
