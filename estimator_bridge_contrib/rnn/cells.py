"""Cells of ``tf.contrib.rnn`` that ``tf.nn.rnn_cell`` does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import (
    LayerRNNCell,
    LSTMStateTuple,
    RNNCell,
    linear,
    zeros,
)

__all__ = ["LayerNormBasicLSTMCell", "NASCell", "UGRNNCell"]

v1 = tf.compat.v1


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with layer normalization (https://arxiv.org/abs/1607.06450) and recurrent dropout.

    Its variables are ``kernel``; with normalization ``gamma`` and ``beta`` in each of ``input``,
    ``transform``, ``forget``, ``output`` and ``state``; without, ``bias``.

    Args:
      num_units: the state's size.
      forget_bias: added to the forget gate.
      input_size: not used.
      activation: the state's activation function.
      layer_norm: whether to normalize gates and state.
      norm_gain: the initial value of ``gamma``.
      norm_shift: the initial value of ``beta``.
      dropout_keep_prob: the probability of keeping a new value of the state
        (https://arxiv.org/abs/1603.05118); a float or a tensor.
      dropout_prob_seed: the seed of dropout.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: int | None = None,
        activation: Callable[[Any], Any] = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        del input_size
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._starts = {"gamma": norm_gain, "beta": norm_shift}
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state and of its output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        old, hidden = state
        args = tf.concat([inputs, hidden], 1)
        kernel = v1.get_variable(
            "kernel", [args.shape.as_list()[-1], 4 * self._num_units], dtype=args.dtype
        )
        gates = tf.matmul(args, tf.convert_to_tensor(kernel))
        if not self._layer_norm:
            # Unlike other cells' biases, this one uses the scope's initializer.
            gates = tf.nn.bias_add(
                gates, v1.get_variable("bias", [4 * self._num_units], dtype=args.dtype)
            )
        i, new, f, o = tf.split(gates, 4, axis=1)
        i, new = self._normal(i, "input"), self._normal(new, "transform")
        f, o = self._normal(f, "forget"), self._normal(o, "output")
        new = self._activation(new)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = tf.nn.dropout(new, 1 - self._keep_prob, seed=self._seed)
        cell = old * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * new
        cell = self._normal(cell, "state")
        output = self._activation(cell) * tf.sigmoid(o)
        return output, LSTMStateTuple(cell, output)

    def _normal(self, values: Any, scope: str) -> Any:
        if not self._layer_norm:
            return values
        with v1.variable_scope(scope):
            gamma, beta = (
                v1.get_variable(
                    name,
                    values.shape[-1:],
                    values.dtype,
                    v1.constant_initializer(self._starts[name]),
                )
                for name in ("gamma", "beta")
            )
            mean, variance = tf.nn.moments(values, [1], keepdims=True)
            epsilon = 1e-3 if values.dtype == tf.float16 else 1e-12
            return tf.nn.batch_normalization(values, mean, variance, beta, gamma, epsilon)


class UGRNNCell(RNNCell):
    """A cell with one gate, which mixes the old state and a new one (arXiv:1611.09913).

    Args:
      num_units: the state's size.
      initializer: initializer of the kernel; the scope's by default.
      forget_bias: added to the gate.
      activation: the new state's activation function.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Callable[[Any], Any] = tf.tanh,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation

    @property
    def state_size(self) -> int:
        """The state's size."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The output's size, which is the state's."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output, which is also the new state."""
        with v1.variable_scope(v1.get_variable_scope(), initializer=self._initializer):
            both = linear(tf.concat([inputs, state], 1), 2 * self._num_units)
        gate, new = tf.split(both, 2, axis=1)
        gate = tf.sigmoid(gate + self._forget_bias)
        output = gate * state + (1.0 - gate) * self._activation(new)
        return output, output


class NASCell(LayerRNNCell):
    """The cell that neural architecture search found (https://arxiv.org/abs/1611.01578).

    Args:
      num_units: the state's size.
      num_proj: the size of a projection of the output, or None.
      use_bias: whether to add biases.
      reuse: whether to reuse existing variables.
      **kwargs: arguments of a layer, such as name.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state and of its output."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        size, units = tf.TensorShape(inputs_shape).as_list()[-1], self._num_units
        if size is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        self.recurrent_kernel = self.add_weight("recurrent_kernel", [self.output_size, 8 * units])
        self.kernel = self.add_weight("kernel", [size, 8 * units])
        if self._use_bias:
            self.bias = self.add_weight("bias", [8 * units], initializer=zeros())
        if self._num_proj is not None:
            self.projection = self.add_weight("projection_weights", [units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        old, hidden = state
        recurrent = tf.matmul(hidden, tf.convert_to_tensor(self.recurrent_kernel))
        if self._use_bias:
            recurrent = tf.nn.bias_add(recurrent, self.bias)
        x = tf.split(tf.matmul(inputs, tf.convert_to_tensor(self.kernel)), 8, axis=1)
        h = tf.split(recurrent, 8, axis=1)
        sigmoid, tanh, relu = tf.sigmoid, tf.tanh, tf.nn.relu
        # Pairs of leaves of the tree, then pairs of pairs.
        first = tanh(sigmoid(x[0] + h[0]) * relu(x[1] + h[1]))
        second = tanh(sigmoid(x[2] + h[2]) + relu(x[3] * h[3]))
        third = tanh(tanh(x[4] + h[4]) * sigmoid(x[5] + h[5]))
        fourth = sigmoid(tanh(x[6] + h[6]) + sigmoid(x[7] + h[7]))
        cell = tanh(first + old) * second
        output = tanh(cell * tanh(third + fourth))
        if self._num_proj is not None:
            output = tf.matmul(output, tf.convert_to_tensor(self.projection))
        return output, LSTMStateTuple(cell, output)
