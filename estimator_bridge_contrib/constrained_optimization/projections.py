"""Nearest points of the sets that the weights of constraints are in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "nearest_log_stochastic_matrix",
    "nearest_multipliers",
    "nearest_stochastic_matrix",
    "principal_eigenvector",
]


def nearest_multipliers(multipliers: tf.Tensor, radius: float) -> tf.Tensor:
    """Returns the nearest vector without negative elements whose sum is at most a radius.

    Args:
      multipliers: a vector of floats, of known length.
      radius: the largest sum.

    Raises:
      ValueError: the vector has another type or shape.
    """
    size = _checked_size(multipliers, "multipliers", 1)

    def shift(values: tf.Tensor, free: tf.Tensor) -> tf.Tensor:
        return tf.minimum((radius - tf.reduce_sum(values)) / _count(free), 0.0)

    return _shifted_until_settled(multipliers, shift, size)


def nearest_stochastic_matrix(matrix: tf.Tensor) -> tf.Tensor:
    """Returns the nearest matrix whose columns are probabilities, by the Frobenius norm.

    Args:
      matrix: a square matrix of floats, of known shape.

    Raises:
      ValueError: the matrix has another type or shape.
    """
    size = _checked_size(matrix, "matrix", 2)

    def shift(values: tf.Tensor, free: tf.Tensor) -> tf.Tensor:
        return (1.0 - tf.reduce_sum(values, axis=0, keepdims=True)) / _count(free, axis=0)

    return _shifted_until_settled(matrix, shift, size)


def nearest_log_stochastic_matrix(logs: tf.Tensor) -> tf.Tensor:
    """Returns the logarithms of the nearest matrix whose columns are probabilities, by divergence.

    Args:
      logs: the logarithms of a matrix's elements.
    """
    return logs - tf.reduce_logsumexp(logs, axis=0, keepdims=True)


def principal_eigenvector(
    matrix: tf.Tensor, epsilon: float = 1e-6, maximum_iterations: int = 100
) -> tf.Tensor:
    """Returns the eigenvector of the largest eigenvalue, of length 1, by the power method.

    Args:
      matrix: a square matrix of floats.
      epsilon: the distance between two iterations at which to stop.
      maximum_iterations: the largest number of iterations.

    Raises:
      ValueError: the matrix is not of floats, or an argument is not positive.
    """
    _check_floats(matrix, "matrix")
    for name, value in (("epsilon", epsilon), ("maximum_iterations", maximum_iterations)):
        if value <= 0:
            raise ValueError(f"{name} must be strictly positive, got {value}.")

    def goes_on(count: Any, new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
        return tf.logical_and(count < maximum_iterations, tf.norm(new - old) > epsilon)

    def step(count: Any, new: tf.Tensor, old: tf.Tensor) -> tuple[Any, tf.Tensor, tf.Tensor]:
        del old
        image = tf.squeeze(tf.matmul(matrix, tf.expand_dims(new, 1)), [1])
        return count + 1, image / tf.norm(image), new

    ones = tf.ones_like(matrix[:, 0])
    start = ones / tf.norm(ones)
    first = step(tf.constant(0), start, start)
    return tf.while_loop(goes_on, step, first, name="power_method")[1]


def _shifted_until_settled(
    values: tf.Tensor, shift: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], size: int
) -> tf.Tensor:
    """Shifts the elements that are not at zero, until none is below zero any more.

    Args:
      values: what to project.
      shift: returns what to add to the elements, given the values and a tensor of the same shape
        that is 1 at the elements which are not at zero.
      size: the largest number of shifts.
    """

    def goes_on(count: Any, values: tf.Tensor, free: tf.Tensor, before: tf.Tensor) -> tf.Tensor:
        del values
        return tf.logical_and(count < size, tf.reduce_any(tf.not_equal(free, before)))

    def step(count: Any, values: tf.Tensor, free: tf.Tensor, before: tf.Tensor) -> tuple[Any, ...]:
        del before
        new_values = values + shift(values, free) * free
        still_free = tf.cast(new_values > 0, new_values.dtype)
        return count + 1, new_values * still_free, still_free, free

    free = tf.ones_like(values)
    first = step(tf.constant(0), values, free, free)
    return tf.while_loop(goes_on, step, first, name="euclidean_projection")[1]


def _count(free: tf.Tensor, axis: int | None = None) -> tf.Tensor:
    """Returns the number of elements that are not at zero, or 1 if there are none."""
    return tf.maximum(tf.reduce_sum(free, axis=axis, keepdims=axis is not None), 1.0)


def _check_floats(tensor: tf.Tensor, what: str) -> None:
    if not tensor.dtype.is_floating:
        raise ValueError(f"{what} must have a floating-point dtype, got {tensor.dtype.name}.")


def _checked_size(tensor: tf.Tensor, what: str, rank: int) -> int:
    """Returns the size of all dimensions of a vector or a square matrix."""
    _check_floats(tensor, what)
    shape = tensor.shape
    if shape.rank is None:
        raise ValueError(f"{what} must have a known shape.")
    if shape.rank != rank:
        raise ValueError(f"{what} must have {rank} dimension(s), got the shape {shape}.")
    sizes = set(shape.as_list())
    if len(sizes) > 1:
        raise ValueError(f"{what} must be square, got the shape {shape}.")
    [size] = sizes
    if size is None:
        raise ValueError(f"{what} must have a fully-known shape, got {shape}.")
    return size
