"""Powers, products and blocks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = [
    "batch_matrix_pow",
    "batch_times_matrix",
    "block_diagonal",
    "make_toeplitz_matrix",
    "matrix_times_batch",
    "matrix_to_powers",
    "power_sums_tensor",
]

_v1 = tf.compat.v1


def block_diagonal(
    matrices: Sequence[Any], dtype: Any = tf.float32, name: str = "block_diagonal"
) -> tf.Tensor:
    """Puts matrices on the diagonal of one.

    Args:
      matrices: each [..., rows, columns], with the same dimensions before these.
      dtype: their type.
      name: the result's name.

    Returns:
      [..., sum of rows, sum of columns].
    """
    blocks = [tf.convert_to_tensor(each, dtype=dtype) for each in matrices]
    batch, rows, columns = tf.TensorShape(None), _Known(0), _Known(0)
    for block in blocks:
        shape = block.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[:-2])
        rows, columns = rows + shape[-2], columns + shape[-1]
    widths = [tf.shape(block)[-1] for block in blocks]
    total = tf.add_n(widths)
    padded, before = [], 0
    for block, width in zip(blocks, widths):
        after = total - before - width
        others = tf.zeros([tf.rank(block) - 1, 2], tf.int32)
        padded.append(tf.pad(block, tf.concat([others, [(before, after)]], axis=0)))
        before = before + width
    result = tf.concat(padded, -2, name=name)
    result.set_shape(batch.concatenate([rows.size, columns.size]))
    return result


class _Known:
    """A sum of static sizes; None if one of them is unknown."""

    def __init__(self, size: int | None):
        self.size = size

    def __add__(self, other: Any) -> _Known:
        more = tf.compat.v1.dimension_value(other)
        return _Known(None if self.size is None or more is None else self.size + more)


def power_sums_tensor(array_size: Any, power_matrix: Any, multiplier: Any) -> tf.Tensor:
    """Computes the sums of ``A**i B (A**i)^T`` for i below n, for each n up to array_size.

    Args:
      array_size: the largest number of terms.
      power_matrix: A, [n, n].
      multiplier: B, [n, n].

    Returns:
      [array_size + 1, n, n], of which the first is zero, and the second is B.
    """
    size = tf.cast(array_size, tf.int32)
    matrix = tf.convert_to_tensor(power_matrix)
    identity = tf.eye(tf.shape(matrix)[0], dtype=matrix.dtype)
    identity.set_shape(matrix.shape)
    powers = tf.scan(
        lambda power, _: tf.matmul(power, matrix), tf.range(size - 1), initializer=identity
    )
    terms = tf.matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    sums = tf.cumsum(tf.concat([tf.expand_dims(multiplier, 0), terms], 0))
    return tf.concat([tf.expand_dims(tf.zeros_like(multiplier), 0), sums], 0)


def matrix_to_powers(matrix: Any, powers: Any) -> tf.Tensor:
    """Raises a matrix [n, n] to several powers [batch]; returns [batch, n, n]."""
    tiled = tf.tile(tf.expand_dims(matrix, 0), [tf.size(powers), 1, 1])
    return batch_matrix_pow(tiled, powers)


def batch_matrix_pow(matrices: Any, powers: Any) -> tf.Tensor:
    """Raises matrices to powers, by squaring.

    Args:
      matrices: [batch, n, n].
      powers: integers from 0 on, [batch].

    Returns:
      [batch, n, n].
    """
    bases = tf.convert_to_tensor(matrices)
    exponents = tf.cast(powers, tf.int32)
    one = tf.linalg.diag(tf.ones([tf.shape(bases)[1]], dtype=bases.dtype))
    identities = tf.tile(tf.expand_dims(one, 0), [tf.shape(bases)[0], 1, 1])

    def is_left(base: Any, exponent: Any, odd_factor: Any) -> tf.Tensor:
        del base, odd_factor
        return tf.reduce_any(tf.greater(exponent, tf.ones_like(exponent)))

    def halve(base: Any, exponent: Any, odd_factor: Any) -> tuple[Any, ...]:
        # Matrices whose exponent has come down to 1 or 0 stay while others go on.
        goes_on = tf.greater(exponent, 1)
        is_even = tf.equal(exponent % 2, tf.zeros_like(exponent))
        product = _v1.where(is_even, odd_factor, tf.matmul(odd_factor, base))
        return (
            _v1.where(goes_on, tf.matmul(base, base), base),
            _v1.where(goes_on, exponent // 2, exponent),
            _v1.where(goes_on, product, odd_factor),
        )

    base, exponent, odd_factor = _v1.while_loop(is_left, halve, [bases, exponents, identities])
    is_zero = tf.equal(exponent, tf.zeros_like(exponent))
    return _v1.where(is_zero, identities, tf.matmul(base, odd_factor))


def batch_times_matrix(
    batch: Any, matrix: Any, adj_x: bool = False, adj_y: bool = False
) -> tf.Tensor:
    """Multiplies each matrix of a batch by one matrix.

    Args:
      batch: [batch, n, m]; [batch, m, n] if adj_x.
      matrix: [m, p]; [p, m] if adj_y.
      adj_x: whether to transpose the matrices of the batch.
      adj_y: whether to transpose the matrix.

    Returns:
      [batch, n, p].
    """
    left, right = tf.convert_to_tensor(batch), tf.convert_to_tensor(matrix)
    if left.shape.ndims != 3 or right.shape.ndims != 2:
        raise AssertionError(
            f"batch must have 3 dimensions and matrix 2; got the shapes {left.shape} and "
            f"{right.shape}."
        )
    if adj_x:
        left = tf.transpose(left, [0, 2, 1])
    dynamic = tf.shape(left)
    static_sizes = [static_size(left, axis) for axis in (0, 1)]
    sizes = [dynamic[axis] if size is None else size for axis, size in enumerate(static_sizes)]
    axis = 0 if adj_y else 1
    width = static_size(right, axis)
    rows = tf.reshape(left, [-1, dynamic[2]])
    sizes.append(tf.shape(right)[axis] if width is None else width)
    return tf.reshape(tf.matmul(rows, right, adjoint_b=adj_y), sizes)


def matrix_times_batch(
    matrix: Any, batch: Any, adj_x: bool = False, adj_y: bool = False
) -> tf.Tensor:
    """Multiplies one matrix by each matrix of a batch; see `batch_times_matrix`."""
    turned = batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x)
    return tf.transpose(turned, [0, 2, 1])


def make_toeplitz_matrix(inputs: Any, name: str | None = None) -> tf.Tensor:
    """Makes a symmetric Toeplitz matrix of blocks.

    Args:
      inputs: the blocks by their distance to the diagonal, [blocks, size, size].
      name: the result's name.

    Returns:
      [blocks * size, blocks * size].
    """
    count, size = tf.shape(inputs)[0], tf.shape(inputs)[1]
    lags = tf.reshape(tf.range(count), [1, -1])
    placed = tf.gather(inputs, tf.abs(lags - tf.transpose(lags)))
    turned = tf.transpose(placed, [0, 2, 1, 3])
    return tf.identity(tf.reshape(turned, [size * count, size * count]), name=name)
