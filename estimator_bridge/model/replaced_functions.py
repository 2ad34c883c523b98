"""TensorFlow's own functions, which this library may have replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["original_tpu_function"]


def original_tpu_function(name: str) -> Callable[..., Any]:
    """Returns TensorFlow's ``tf.compat.v1.tpu`` function, even after legacy.install()."""
    function = getattr(tf.compat.v1.tpu, name)
    return getattr(function, "of_tensorflow", function)
