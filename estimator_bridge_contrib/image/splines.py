"""Polyharmonic splines: smooth functions through values at scattered points.

A spline of order k is f(x) = sum_i w_i phi(|x - c_i|) + v . x + b, where the c_i are the given
points, phi(r) is r^k for an odd k and r^k log(r) for an even one. The weights are the solution of
the linear system that f(c_i) = y_i, sum_i w_i = 0 and sum_i w_i c_i = 0 (Duchon 1977).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["interpolate_spline"]

_v1 = tf.compat.v1
# Squared distances below it count as it: the logarithm and the root have no gradient at 0.
_SMALLEST = 1e-10


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> tf.Tensor:
    """Interpolates values at scattered points.

    The result is differentiable with respect to all tensors.

    Args:
      train_points: [batch, points, dimensions], where values are given.
      train_values: [batch, points, channels], the values there.
      query_points: [batch, queries, dimensions], where values are wanted.
      order: 1 for phi(r) = r, 2 for r^2 log(r) (a thin plate), 3 for r^3, and so on.
      regularization_weight: added to the diagonal of the system. Above 0, the spline is smoother,
        and no longer passes through the values exactly.
      name: the operations' name scope.

    Returns:
      [batch, queries, channels].

    Raises:
      ValueError: the number of dimensions or of channels is not known when the graph is built.
    """
    with _v1.name_scope(name):
        points = tf.convert_to_tensor(train_points)
        values = tf.convert_to_tensor(train_values)
        queries = tf.convert_to_tensor(query_points)
        _check_known(points, "the input points (d)", "train_points")
        _check_known(values, "the output values (k)", "train_values")
        with _v1.name_scope("solve"):
            weights, line = _fitted(points, values, order, regularization_weight)
        with _v1.name_scope("predict"):
            bent = tf.matmul(_phi(_squared_distances(queries, points), order), weights)
            return bent + tf.matmul(_with_ones(queries), line)


def _check_known(tensor: tf.Tensor, what: str, argument: str) -> None:
    if tensor.shape.rank is None or tensor.shape.as_list()[-1] is None:
        raise ValueError(
            f"The dimensionality of {what} must be statically-inferrable; {argument} has the shape "
            f"{tensor.shape}. Set it: {argument}.set_shape([None, None, size])."
        )


def _fitted(
    points: tf.Tensor, values: tf.Tensor, order: int, regularization_weight: float
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the weights of the points, and those of the coordinates and of 1."""
    bent = _phi(_squared_distances(points, points), order)
    if regularization_weight > 0:
        bent += regularization_weight * tf.eye(tf.shape(points)[1], dtype=points.dtype)
    straight = _with_ones(points)
    corner = tf.zeros_like(tf.matmul(straight, straight, transpose_a=True))
    top = tf.concat([bent, straight], 2)
    bottom = tf.concat([tf.linalg.matrix_transpose(straight), corner], 2)
    none = tf.zeros_like(tf.matmul(straight, values, transpose_a=True))
    solved = tf.linalg.solve(tf.concat([top, bottom], 1), tf.concat([values, none], 1))
    count = tf.shape(points)[1]
    return solved[:, :count], solved[:, count:]


def _squared_distances(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns [batch, n, m] from [batch, n, d] and [batch, m, d]."""
    of_x = tf.reduce_sum(tf.square(x), 2)[:, :, None]
    of_y = tf.reduce_sum(tf.square(y), 2)[:, None, :]
    return of_x - 2 * tf.matmul(x, y, transpose_b=True) + of_y


def _phi(squares: tf.Tensor, order: int) -> tf.Tensor:
    """Returns phi of distances, given their squares."""
    safe = tf.maximum(squares, _SMALLEST)
    if order == 1:
        return tf.sqrt(safe)
    if order % 2:
        return tf.pow(safe, 0.5 * order)
    # log(r) is half of log(r^2). Only the logarithm needs a positive number in orders 2 and 4.
    if order == 2:
        return 0.5 * squares * tf.math.log(safe)
    if order == 4:
        return 0.5 * tf.square(squares) * tf.math.log(safe)
    return 0.5 * tf.pow(safe, 0.5 * order) * tf.math.log(safe)


def _with_ones(points: tf.Tensor) -> tf.Tensor:
    """Adds a coordinate that is 1, whose weight is the bias."""
    return tf.concat([points, tf.ones_like(points[..., :1])], 2)
