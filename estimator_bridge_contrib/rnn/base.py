"""Building blocks of cells: the base classes, and a linear layer in a cell's scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.conversion import leave_layers_unconverted

__all__ = ["LSTMStateTuple", "Layer", "LayerRNNCell", "RNNCell", "check_cell", "linear", "zeros"]

v1 = tf.compat.v1
leave_layers_unconverted()

RNNCell: Any = v1.nn.rnn_cell.RNNCell
Layer: Any = v1.layers.Layer
LSTMStateTuple: Any = v1.nn.rnn_cell.LSTMStateTuple
# The base of cells that make their variables in build(); it has no public name.
LayerRNNCell: Any = v1.nn.rnn_cell.BasicRNNCell.__bases__[0]


def zeros() -> Any:
    """Returns the initializer of biases."""
    return v1.zeros_initializer()


def linear(
    args: Any,
    output_size: int,
    bias: bool = True,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> tf.Tensor:
    """Multiplies concatenated tensors by the variable ``kernel``, and adds ``bias``.

    Args:
      args: a tensor [batch, size], or several.
      output_size: the size of the result.
      bias: whether to add a bias.
      bias_initializer: initializer of the bias; zeros by default.
      kernel_initializer: initializer of the kernel; the scope's by default.

    Returns:
      A tensor [batch, output_size].

    Raises:
      ValueError: a tensor is not two-dimensional, or its second dimension is unknown.
    """
    tensors: Sequence[Any] = args if isinstance(args, (list, tuple)) else [args]
    shapes = [tensor.shape for tensor in tensors]
    for shape in shapes:
        if shape.rank != 2 or shape.as_list()[1] is None:
            raise ValueError(
                f"linear is expecting 2D arguments with a known second dimension: {shapes}"
            )
    inputs = tensors[0] if len(tensors) == 1 else tf.concat(tensors, 1)
    dtype = inputs.dtype.base_dtype
    kernel = v1.get_variable(
        "kernel", [inputs.shape.as_list()[1], output_size], dtype, kernel_initializer
    )
    outputs = tf.matmul(inputs, tf.convert_to_tensor(kernel))
    if not bias:
        return outputs
    with v1.variable_scope(v1.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        values = v1.get_variable("bias", [output_size], dtype, bias_initializer or zeros())
    return tf.nn.bias_add(outputs, values)


def check_cell(cell: Any) -> None:
    """Checks that an object is a cell.

    Raises:
      TypeError: it lacks a member that cells have.
    """
    lacking = [name for name in ("output_size", "state_size") if not hasattr(cell, name)]
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        lacking.append("zero_state")
    if not callable(cell):
        lacking.append("__call__")
    if lacking:
        raise TypeError(
            f"The argument 'cell' ({cell!r}) is not an RNNCell: it has no {', '.join(lacking)}."
        )
