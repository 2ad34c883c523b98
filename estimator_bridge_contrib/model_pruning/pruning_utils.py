"""Parts of pruning: a mask's variables, blocks of weights, and assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "determine_partitioned_axis",
    "expand_tensor",
    "factorized_pool",
    "kronecker_product",
    "partitioned_variable_assign",
    "variable_assign",
    "weight_mask_variable",
    "weight_threshold_variable",
]

_v1 = tf.compat.v1


def weight_mask_variable(var: Any, scope: Any) -> Any:
    """Gets or makes the variable ``mask``, of ones, of the weights' shape and type.

    Args:
      var: the weights.
      scope: the variable scope, or its name.
    """
    return _get("mask", var.shape, var.dtype, scope, _v1.ones_initializer())


def weight_threshold_variable(var: Any, scope: Any) -> Any:
    """Gets or makes the scalar variable ``threshold``, of zero, of the weights' type.

    Args:
      var: the weights.
      scope: the variable scope, or its name.
    """
    return _get("threshold", [], var.dtype, scope, _v1.zeros_initializer())


def _get(name: str, shape: Any, dtype: tf.DType, scope: Any, initializer: Any) -> Any:
    with _v1.variable_scope(scope):
        return _v1.get_variable(
            name, shape, dtype.base_dtype, initializer=initializer, trainable=False
        )


def kronecker_product(mat1: tf.Tensor, mat2: tf.Tensor) -> tf.Tensor:
    """Returns a matrix with the second one in the place of each element, times the element.

    Args:
      mat1: [rows, columns], of known shape.
      mat2: [height, width], of known shape.

    Returns:
      A matrix [rows * height, columns * width].
    """
    (rows, columns), (height, width) = mat1.shape.as_list(), mat2.shape.as_list()
    products = tf.reshape(mat1, [rows, 1, columns, 1]) * tf.reshape(mat2, [1, height, 1, width])
    return tf.reshape(products, [rows * height, columns * width])


def expand_tensor(tensor: tf.Tensor, block_dims: Sequence[int]) -> tf.Tensor:
    """Repeats each element of a matrix in a block.

    Args:
      tensor: a matrix.
      block_dims: the block's height and width; below 1 is 1.

    Raises:
      ValueError: the tensor is not a matrix, or there are not two sizes.
    """
    if tensor.shape.rank != 2:
        raise ValueError(f"Input tensor must be rank 2, got the shape {tensor.shape}.")
    if len(block_dims) != 2:
        raise ValueError(f"block_dims must have 2 elements, got {block_dims}.")
    for axis, size in enumerate(block_dims):
        if size > 1:
            tensor = tf.repeat(tensor, size, axis=axis)
    return tensor


def factorized_pool(
    input_tensor: tf.Tensor,
    window_shape: Sequence[int],
    pooling_type: str,
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """Pools a matrix on one axis after the other.

    Args:
      input_tensor: a matrix of known shape.
      window_shape: the window's height and width.
      pooling_type: "MAX" or "AVG".
      strides: the distances of windows on both axes.
      padding: "SAME" or "VALID".
      name: the operations' name.

    Returns:
      The pooled matrix.

    Raises:
      ValueError: the input is not a matrix.
    """
    if input_tensor.shape.rank != 2:
        raise ValueError(
            f"factorized_pool() accepts tensors of rank 2 only, got the shape {input_tensor.shape}."
        )
    with _v1.name_scope(name, "factorized_pool"):
        pooled = tf.reshape(
            input_tensor,
            [1, 1, *input_tensor.shape.as_list()],
            name=f"{input_tensor.op.name}_aligned",
        )
        # The last axis is that of channels, which are pooled separately: after each of two turns of
        # the matrix, the other axis is last.
        for size, stride in zip(window_shape, strides):
            pooled = tf.nn.pool(pooled, [1, size], pooling_type, [1, stride], padding)
            pooled = tf.transpose(pooled, [0, 1, 3, 2])
    return tf.squeeze(pooled, [0, 1])


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """Returns the axis on which a variable is divided into parts.

    Args:
      partitioned_variable: the variable, of several parts.

    Raises:
      ValueError: a part is smaller on no axis, or on several.
    """
    whole = partitioned_variable.get_shape().as_list()
    axis = 0
    for part in partitioned_variable:
        smaller = [i for i, size in enumerate(part.shape.as_list()) if size < whole[i]]
        if len(smaller) != 1:
            raise ValueError(f"Number of partitioned axes {len(smaller)} not equal to 1.")
        [axis] = smaller
    return axis


def variable_assign(var: Any, new_value: Any) -> Any:
    """Assigns a value to a variable.

    Args:
      var: the variable.
      new_value: a tensor of its shape.

    Returns:
      The assignment.
    """
    return _v1.assign(var, new_value, name=f"{var.op.name}_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: tf.Tensor) -> tf.Operation:
    """Assigns the parts of a value to the parts of a variable.

    Args:
      partitioned_var: the variable.
      new_value: a tensor of the whole variable's shape.

    Returns:
      An operation.
    """
    parts = list(partitioned_var)
    axis = determine_partitioned_axis(partitioned_var) if len(parts) > 1 else 0
    values = tf.split(new_value, [part.shape.as_list()[axis] for part in parts], axis=axis)
    assigned = [variable_assign(part, value) for part, value in zip(parts, values)]
    return tf.group(*assigned, name=f"{partitioned_var.name}_group_assign")
