"""Percentiles of samples."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["percentile"]

_v1 = tf.compat.v1
_ROUND = {"lower": tf.math.ceil, "higher": tf.math.floor, "nearest": tf.math.round}


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Returns the element below which are ``q`` percent of the others.

    Args:
      x: a tensor of at least one dimension.
      q: a scalar from 0 (the minimum) to 100 (the maximum).
      axis: the dimensions of the samples, an integer or several; by default all.
      interpolation: the element to take between two, "lower", "higher" or "nearest", the default.
      keep_dims: whether the dimensions of the samples stay, with size 1.
      validate_args: whether to check, when the graph runs, that q is between 0 and 100.
      name: the operations' name scope; by default "percentile".

    Returns:
      A tensor of x's type with the dimensions that are left.

    Raises:
      ValueError: there is no such interpolation; an axis is none of x, or is not known when the
        graph is built; or q is no scalar.
    """
    rounded = _ROUND.get(interpolation or "nearest")
    if rounded is None:
        raise ValueError(
            f"Argument 'interpolation' must be in {sorted(_ROUND)}.  Found {interpolation}"
        )
    with _v1.name_scope(name or "percentile"):
        x = tf.convert_to_tensor(x, name="x")
        q = tf.cast(q, tf.float64, name="q")
        if q.shape.rank not in (0, None):
            raise ValueError(
                f"Expected argument 'q' to have ndims 0: percentile takes one percentage, and q "
                f"has the shape {q.shape}. Call it once for each."
            )
        if validate_args:
            with tf.control_dependencies(
                [
                    _v1.assert_rank(q, 0),
                    _v1.assert_greater_equal(q, tf.constant(0.0, tf.float64)),
                    _v1.assert_less_equal(q, tf.constant(100.0, tf.float64)),
                ]
            ):
                q = tf.identity(q)
        axes = None if axis is None else _axes_of(x, axis)
        samples = tf.reshape(x, [-1]) if axes is None else _samples_last(x, axes)
        count = tf.shape(samples)[-1]
        # From the largest down, as the original counts: that decides which neighbor is nearest.
        place = rounded(tf.cast(count - 1, tf.float64) * (1.0 - q / 100.0))
        place = tf.clip_by_value(tf.cast(place, tf.int32), 0, count - 1)
        values = tf.sort(samples, direction="DESCENDING")[..., place]
        if not keep_dims:
            return values
        if axes is None:
            return tf.reshape(values, tf.ones([tf.rank(x)], tf.int32))
        for each in sorted(axes):
            values = tf.expand_dims(values, each)
        return values


def _axes_of(x: tf.Tensor, axis: Any) -> list[int]:
    """Returns the axes, from 0 up."""
    value = tf.get_static_value(axis) if tf.is_tensor(axis) else axis
    if value is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if x.shape.rank is None:
        raise ValueError(
            "percentile needs the number of x's dimensions where axis is given. Set it: "
            "x.set_shape([None, None])."
        )
    axes = [int(each) for each in (value if hasattr(value, "__len__") else [value])]
    if wrong := [each for each in axes if not -x.shape.rank <= each < x.shape.rank]:
        raise ValueError(f"percentile: x has {x.shape.rank} dimensions, and no axis {wrong[0]}.")
    return [each % x.shape.rank for each in axes]


def _samples_last(x: tf.Tensor, axes: list[int]) -> tf.Tensor:
    """Moves the axes behind the others, and makes them one."""
    others = [each for each in range(x.shape.rank) if each not in axes]
    transposed = tf.transpose(x, others + axes)
    return tf.reshape(transposed, tf.concat([tf.shape(transposed)[: len(others)], [-1]], 0))
