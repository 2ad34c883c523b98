"""Cells of tf.contrib.rnn whose units depend only on their own part of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import LayerRNNCell, LSTMStateTuple, zeros

__all__ = ["IndRNNCell", "IndyGRUCell", "IndyLSTMCell", "SRUCell"]

v1 = tf.compat.v1
Activation = Callable[[Any], Any]


class _Cell(LayerRNNCell):
    def __init__(self, num_units: int, activation: Activation | None, **kwargs: Any):
        super().__init__(**kwargs)
        self._num_units = num_units
        self._activation = activation or tf.tanh

    @property
    def state_size(self) -> Any:
        """The state's size."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._num_units

    def _weight(self, name: str, rows: int | None, units: int, initializer: Any = None) -> Any:
        shape = [units] if rows is None else [rows, units]
        return self.add_weight(name, shape, initializer=initializer)

    def _diagonal(self, name: str, units: int) -> Any:
        uniform = v1.random_uniform_initializer(-1, 1, dtype=self.dtype)
        return self.add_weight(name, [1, units], initializer=uniform)


def _depth(shape: Any) -> int:
    depth = tf.TensorShape(shape).as_list()[-1]
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    return depth


class IndRNNCell(_Cell):
    """output = activation(W x + u * state + b) (https://arxiv.org/abs/1803.04831).

    Args:
      num_units: the state's size.
      activation: the activation function; tanh by default.
      reuse: whether to reuse existing variables.
      name: the layer's name.
      dtype: the variables' type.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, _reuse=reuse, name=name, dtype=dtype)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        self.kernel_w = self._weight("kernel_w", _depth(inputs_shape), self._num_units)
        self.kernel_u = self._diagonal("kernel_u", self._num_units)
        self.bias = self._weight("bias", None, self._num_units, zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output, which is also the new state."""
        output = self._activation(
            tf.matmul(inputs, tf.convert_to_tensor(self.kernel_w))
            + state * self.kernel_u
            + self.bias
        )
        return output, output


class IndyGRUCell(_Cell):
    """A GRU whose recurrent matrices are diagonal.

    Args:
      num_units: the state's size.
      activation: the candidate's activation function; tanh by default.
      reuse: whether to reuse existing variables.
      kernel_initializer: initializer of the matrices for the inputs.
      bias_initializer: initializer of the biases; by default 1 for the gates, 0 for the candidate.
      name: the layer's name.
      dtype: the variables' type.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, _reuse=reuse, name=name, dtype=dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        depth, units = _depth(inputs_shape), self._num_units
        kernel, bias = self._kernel_initializer, self._bias_initializer
        ones = v1.constant_initializer(1.0)
        self.gate_w = self._weight("gates/kernel_w", depth, 2 * units, kernel)
        self.gate_u = self._diagonal("gates/kernel_u", 2 * units)
        self.gate_bias = self._weight("gates/bias", None, 2 * units, bias or ones)
        self.candidate_w = self._weight("candidate/kernel", depth, units, kernel)
        self.candidate_u = self._diagonal("candidate/kernel_u", units)
        self.candidate_bias = self._weight("candidate/bias", None, units, bias or zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output, which is also the new state."""
        gates = tf.matmul(inputs, tf.convert_to_tensor(self.gate_w))
        gates += tf.tile(state, [1, 2]) * self.gate_u + self.gate_bias
        reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
        candidate = tf.matmul(inputs, tf.convert_to_tensor(self.candidate_w))
        candidate += reset * state * self.candidate_u + self.candidate_bias
        output = update * state + (1.0 - update) * self._activation(candidate)
        return output, output


class IndyLSTMCell(_Cell):
    """An LSTM whose recurrent matrices are diagonal (https://arxiv.org/abs/1903.08023).

    Args:
      num_units: the state's size.
      forget_bias: added to the forget gate.
      activation: the activation function of the new values and of the state; tanh by default.
      reuse: whether to reuse existing variables.
      kernel_initializer: initializer of the matrix for the inputs.
      bias_initializer: initializer of the bias; zeros by default.
      name: the layer's name.
      dtype: the variables' type.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        super().__init__(num_units, activation, _reuse=reuse, name=name, dtype=dtype)
        self._forget_bias = forget_bias
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state and of its output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        units = 4 * self._num_units
        self.kernel_w = self._weight(
            "kernel_w", _depth(inputs_shape), units, self._kernel_initializer
        )
        self.kernel_u = self._diagonal("kernel_u", units)
        self.bias = self._weight("bias", None, units, self._bias_initializer or zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        old, hidden = state
        gates = tf.matmul(inputs, tf.convert_to_tensor(self.kernel_w))
        gates += tf.tile(hidden, [1, 4]) * self.kernel_u + self.bias
        i, new, f, o = tf.split(gates, 4, axis=1)
        cell = old * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(new)
        output = self._activation(cell) * tf.sigmoid(o)
        return output, LSTMStateTuple(cell, output)


class SRUCell(_Cell):
    """The simple recurrent unit (https://arxiv.org/abs/1709.02755); its gates ignore the state.

    Args:
      num_units: the state's size.
      activation: the state's activation function; tanh by default.
      reuse: whether to reuse existing variables.
      name: the layer's name.
      **kwargs: further arguments of a layer.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, _reuse=reuse, name=name, **kwargs)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        self.kernel = self._weight("kernel", _depth(inputs_shape), 4 * self._num_units)
        self.bias = self._weight("bias", None, 2 * self._num_units, zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        parts = tf.matmul(inputs, tf.convert_to_tensor(self.kernel))
        new, forget, reset, through = tf.split(parts, 4, axis=1)
        gates = tf.sigmoid(tf.concat([forget, reset], 1) + self.bias)
        forget, reset = tf.split(gates, 2, axis=1)
        cell = forget * state + (1.0 - forget) * new
        return reset * self._activation(cell) + (1.0 - reset) * through, cell
