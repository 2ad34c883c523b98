"""Polyharmonic splines through points of any dimension.

The value at x is the sum of w[i] * phi(|x - c[i]|) over the given points c, plus a linear function;
w and that function solve a linear system. phi(r) is r^order, times log(r) for an even order.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["interpolate_spline"]

_v1 = tf.compat.v1
_LEAST = 1e-10  # of a squared distance, whose root and logarithm have a gradient then


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> tf.Tensor:
    """Interpolates values between points.

    Args:
      train_points: [batch, points, dimensions], floats.
      train_values: [batch, points, values].
      query_points: [batch, queries, dimensions].
      order: of the spline: 1 is linear, 2 a thin plate, 3 cubic.
      regularization_weight: above 0, the spline does not pass through the points, but is smoother.
      name: the operations' name.

    Returns:
      [batch, queries, values].

    Raises:
      ValueError: the number of dimensions or of values is not static.
    """
    with _v1.name_scope(name):
        points, values = tf.convert_to_tensor(train_points), tf.convert_to_tensor(train_values)
        queries = tf.convert_to_tensor(query_points)
        for what, each in (("input points (d)", points), ("output values (k)", values)):
            if each.shape.rank is None or each.shape.as_list()[-1] is None:
                raise ValueError(f"The dimensionality of the {what} must be statically-inferrable.")
        count = tf.shape(points)[1]
        kernel = _phi(_distances(points, points), order)
        if regularization_weight > 0:
            kernel += regularization_weight * tf.eye(count, dtype=points.dtype)[None]
        linear = _with_ones(points)
        corner = tf.zeros_like(tf.matmul(linear, linear, transpose_a=True))
        left = tf.concat([kernel, tf.transpose(linear, [0, 2, 1])], 1)
        system = tf.concat([left, tf.concat([linear, corner], 1)], 2)
        sizes = [tf.shape(points)[0], points.shape.as_list()[-1] + 1, values.shape.as_list()[-1]]
        targets = tf.concat([values, tf.zeros(sizes, points.dtype)], 1)
        solved = tf.linalg.solve(system, targets)
        curved = tf.matmul(_phi(_distances(queries, points), order), solved[:, :count])
        return curved + tf.matmul(_with_ones(queries), solved[:, count:])


def _with_ones(points: tf.Tensor) -> tf.Tensor:
    return tf.concat([points, tf.ones_like(points[..., :1])], 2)


def _distances(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns squared distances, [batch, of x, of y]."""
    products = tf.matmul(x, y, adjoint_b=True)
    if x is y:  # the same rounding on the diagonal, which is 0 then
        norms = tf.linalg.diag_part(products)[..., None]
        return norms - 2 * products + tf.transpose(norms, [0, 2, 1])
    ours, theirs = (tf.reduce_sum(tf.square(each), 2) for each in (x, y))
    return ours[..., None] - 2 * products + theirs[:, None]


def _phi(squared: tf.Tensor, order: int) -> tf.Tensor:
    safe = tf.maximum(squared, _LEAST)
    if order == 1:
        return tf.sqrt(safe)
    if order == 2:
        return 0.5 * squared * tf.math.log(safe)
    if order == 4:
        return 0.5 * tf.square(squared) * tf.math.log(safe)
    power = tf.pow(safe, 0.5 * order)
    return power if order % 2 else 0.5 * power * tf.math.log(safe)
