"""TensorFlow's own functions, where this library's may have taken their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["own_tpu_function"]


def own_tpu_function(name: str) -> Callable[..., Any]:
    """TensorFlow's ``tf.compat.v1.tpu`` function, whatever legacy.install() has put there."""
    found = getattr(tf.compat.v1.tpu, name)
    return getattr(found, "of_tensorflow", found)
