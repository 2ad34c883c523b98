"""LSTM cells whose products are convolutions (https://arxiv.org/abs/1506.04214)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import LSTMStateTuple, RNNCell, zeros

__all__ = ["Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell"]

v1 = tf.compat.v1


class ConvLSTMCell(RNNCell):
    """A convolutional LSTM; its variables are ``kernel`` and ``biases``.

    Args:
      conv_ndims: the number of dimensions of positions, 1 to 3.
      input_shape: the shape of an example, [*positions, channels].
      output_channels: the channels of the state.
      kernel_shape: the filters' size, one number per dimension.
      use_bias: whether to add biases.
      skip_connection: whether the output includes the inputs' channels.
      forget_bias: added to the forget gate.
      initializers: not used.
      name: the cell's scope.

    Raises:
      ValueError: input_shape does not have conv_ndims positions.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ):
        super().__init__(name=name)
        del initializers
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(
                f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}: it has "
                f"{len(input_shape) - 1} positions besides the channels."
            )
        self._positions = tuple(input_shape[:-1])
        self._skipped = input_shape[-1] if skip_connection else 0
        self._channels = output_channels
        self._kernel_shape = tuple(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        """The shapes of the cell's state and of its output."""
        shape = tf.TensorShape([*self._positions, self._channels])
        return LSTMStateTuple(shape, shape)

    @property
    def output_size(self) -> Any:
        """The output's shape."""
        return tf.TensorShape([*self._positions, self._channels + self._skipped])

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        old, hidden = state
        args = tf.concat([inputs, hidden], -1)
        size = [*self._kernel_shape, args.shape.as_list()[-1], 4 * self._channels]
        kernel = v1.get_variable("kernel", size, dtype=args.dtype)
        gates = tf.nn.convolution(args, tf.convert_to_tensor(kernel), padding="SAME")
        if self._use_bias:
            gates += v1.get_variable(
                "biases", [4 * self._channels], dtype=args.dtype, initializer=zeros()
            )
        i, new, f, o = tf.split(gates, 4, axis=-1)
        cell = tf.sigmoid(f + self._forget_bias) * old + tf.sigmoid(i) * tf.tanh(new)
        hidden = tf.tanh(cell) * tf.sigmoid(o)
        output = tf.concat([hidden, inputs], -1) if self._skipped else hidden
        return output, LSTMStateTuple(cell, hidden)


class Conv1DLSTMCell(ConvLSTMCell):
    """A one-dimensional ConvLSTMCell, with the same arguments."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A two-dimensional ConvLSTMCell, with the same arguments."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """A three-dimensional ConvLSTMCell, with the same arguments."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=3, name=name, **kwargs)
