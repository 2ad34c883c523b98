"""Checks of what solvers of differential equations are given."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["check_types", "times_increase", "to_floats"]

_v1 = tf.compat.v1


def to_floats(value: Any, name: str) -> tf.Tensor:
    """Returns times as a tensor; Python's numbers become float64."""
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return tf.convert_to_tensor(value, name=name)
    try:
        return tf.convert_to_tensor(value, tf.float64, name=name)
    except (TypeError, ValueError):  # tensors in a list, or arrays of another type
        return tf.convert_to_tensor(value, name=name)


def check_types(y0: tf.Tensor, *times: tf.Tensor) -> None:
    """Checks the types of a state and of times.

    Raises:
      TypeError: the state has neither floats nor complex numbers, or a time has no floats.
    """
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError(
            "`y0` must have a floating point or complex floating point dtype. Got "
            f"{y0.dtype.name}: cast it, or write 1.0 instead of 1."
        )
    for name, time in zip(("t", "dt"), times):
        if not time.dtype.is_floating:
            raise TypeError(
                f"`{name}` must have a floating point dtype. Got {time.dtype.name}: cast it."
            )


def times_increase(t: tf.Tensor) -> tf.Operation:
    """Returns the operation that fails if times do not increase."""
    return _v1.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])
