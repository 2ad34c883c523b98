"""Variants of the LSTM in tf.contrib.rnn: coupled gates, groups, phases, two outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import LSTMStateTuple, RNNCell, linear, zeros
from estimator_bridge_contrib.rnn.frequency_slices import sharded_kernel

__all__ = ["CoupledInputForgetGateLSTMCell", "GLSTMCell", "IntersectionRNNCell", "PhasedLSTMCell"]

v1 = tf.compat.v1
Activation = Callable[[Any], Any]


class _Cell(RNNCell):
    def __init__(self, num_units: int, num_proj: int | None, reuse: bool | None):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_proj = num_units, num_proj

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state and of its output."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._num_proj or self._num_units


class CoupledInputForgetGateLSTMCell(_Cell):
    """An LSTM whose input gate is 1 minus its forget gate (https://arxiv.org/abs/1503.04069).

    Args:
      num_units: the state's size.
      use_peepholes: whether the gates also read the state.
      initializer: has no effect, as in the original; the scope's initializer is used.
      num_proj: the size of a projection of the output, or None.
      proj_clip: the greatest absolute value of a projected output.
      num_unit_shards: the number of variables that the weights are divided into.
      num_proj_shards: the same for the projection.
      forget_bias: added to the forget gate.
      state_is_tuple: whether the state is a pair; otherwise the memory and the output are
        concatenated.
      activation: the activation function of the new values and of the state.
      reuse: whether to reuse existing variables.
      layer_norm: whether to normalize gates and state.
      norm_gain: the initial value of ``gamma``.
      norm_shift: the initial value of ``beta``.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tf.tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ):
        super().__init__(num_units, num_proj, reuse)
        del initializer
        self._state_is_tuple, self._shards = state_is_tuple, (num_unit_shards, num_proj_shards)
        self._use_peepholes, self._proj_clip = use_peepholes, proj_clip
        self._forget_bias, self._activation = forget_bias, activation
        self._layer_norm = layer_norm
        self._starts = {"gamma": norm_gain, "beta": norm_shift}

    @property
    def state_size(self) -> Any:
        """The sizes of the memory and of the output, or their sum."""
        sizes = super().state_size
        return sizes if self._state_is_tuple else sum(sizes)

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        sizes = [self._num_units, self.output_size]
        old, hidden = state if self._state_is_tuple else tf.split(state, sizes, axis=1)
        args, units = tf.concat([inputs, hidden], 1), self._num_units
        shape = [args.shape.as_list()[1], 3 * units]
        gates = tf.matmul(args, sharded_kernel("W", shape, args.dtype, self._shards[0]))
        bias = _variable("B", [3 * units], args.dtype, zeros())
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, bias)
        new, f, o = tf.split(gates, 3, axis=1)
        new, f = self._normal(new, "transform"), self._normal(f, "forget")
        o = self._normal(o, "output")
        f += self._forget_bias
        if self._use_peepholes:
            f += _variable("W_F_diag", [units], args.dtype) * old
        f = tf.sigmoid(f)
        cell = self._normal(f * old + (1 - f) * self._activation(new), "state")
        if self._use_peepholes:
            o += _variable("W_O_diag", [units], args.dtype) * cell
        output = tf.sigmoid(o) * self._activation(cell)
        if self._num_proj is not None:
            shape = [units, self._num_proj]
            output = tf.matmul(output, sharded_kernel("W_P", shape, args.dtype, self._shards[1]))
            if self._proj_clip is not None:
                output = tf.clip_by_value(output, -self._proj_clip, self._proj_clip)
        new = LSTMStateTuple(cell, output)
        return output, new if self._state_is_tuple else tf.concat(new, 1)

    def _normal(self, values: Any, scope: str) -> Any:
        if not self._layer_norm:
            return values
        with v1.variable_scope(scope):
            gamma, beta = (
                _variable(name, values.shape[-1:], values.dtype, v1.constant_initializer(start))
                for name, start in self._starts.items()
            )
        mean, variance = tf.nn.moments(values, [1], keepdims=True)
        return tf.nn.batch_normalization(values, mean, variance, beta, gamma, 1e-12)


class GLSTMCell(_Cell):
    """An LSTM in groups, each with its own part of inputs and output (arXiv:1703.10722).

    Args:
      num_units: the state's size.
      initializer: initializer of the kernels; the scope's by default.
      num_proj: the size of a projection of the output, or None.
      number_of_groups: a divisor of the sizes of inputs, state and projection.
      forget_bias: added to the forget gate.
      activation: the state's activation function.
      reuse: whether to reuse existing variables.

    Raises:
      ValueError: a size is not divisible by the number of groups.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: bool | None = None,
    ):
        super().__init__(num_units, num_proj, reuse)
        self._initializer, self._groups = initializer, number_of_groups
        self._forget_bias, self._activation = forget_bias, activation
        for name, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            self._check(name, size)

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        old, hidden = state
        size, units = inputs.shape.as_list()[1], self._num_units
        if size is None:
            raise ValueError("input size must be statically known")
        self._check("input size", size)
        groups = zip(tf.split(inputs, self._groups, axis=1), tf.split(hidden, self._groups, axis=1))
        with v1.variable_scope(v1.get_variable_scope(), initializer=self._initializer):
            parts = []
            for number, both in enumerate(groups):
                with v1.variable_scope(f"group{number}"):
                    out = linear(list(both), 4 * units // self._groups, bias=False)
                parts.append(tf.split(out, 4, axis=1))
            i, new, f, o = (
                tf.concat(part, axis=1) + _variable(f"bias_{name}", [units], inputs.dtype, zeros())
                for name, part in zip("ijfo", zip(*parts))
            )
        cell = tf.sigmoid(f + self._forget_bias) * old + tf.sigmoid(i) * tf.tanh(new)
        output = tf.sigmoid(o) * self._activation(cell)
        if self._num_proj is not None:
            with v1.variable_scope("projection"):
                output = linear(output, self._num_proj, bias=False)
        return output, LSTMStateTuple(cell, output)

    def _check(self, name: str, size: int) -> None:
        if size % self._groups:
            raise ValueError(
                f"{name} ({size}) must be divisible by number_of_groups ({self._groups})"
            )


class IntersectionRNNCell(RNNCell):
    """A cell whose output differs from its state (https://arxiv.org/abs/1611.09913).

    Args:
      num_units: the sizes of state and output.
      num_in_proj: num_units, for inputs of another size; None if the inputs have that size.
      initializer: initializer of the kernels; the scope's by default.
      forget_bias: added to the gates.
      y_activation: the output's activation function.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Activation = tf.nn.relu,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj = num_units, num_in_proj
        self._initializer, self._forget_bias = initializer, forget_bias
        self._y_activation = y_activation

    @property
    def state_size(self) -> int:
        """The state's size."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        with v1.variable_scope(v1.get_variable_scope(), initializer=self._initializer):
            size = inputs.shape.as_list()[1]
            if size != self._num_units:
                if not self._num_in_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. To fix, "
                        "num_in_proj should be set to num_units at cell init. The input size is "
                        f"{size}, num_units {self._num_units}."
                    )
                with v1.variable_scope("in_projection"):
                    inputs = linear(inputs, self._num_units)
            all_four = linear([inputs, state], 4 * self._num_units)
        h_gate, h, y_gate, y = tf.split(all_four, 4, axis=1)
        h_gate = tf.sigmoid(h_gate + self._forget_bias)
        y_gate = tf.sigmoid(y_gate + self._forget_bias)
        new_state = h_gate * state + (1.0 - h_gate) * tf.tanh(h)
        return y_gate * inputs + (1.0 - y_gate) * self._y_activation(y), new_state


class PhasedLSTMCell(_Cell):
    """An LSTM whose units are open for part of their own period (arXiv:1610.09513).

    Its inputs are a pair: times [batch, 1], and values [batch, size].

    Args:
      num_units: the state's size.
      use_peepholes: whether the gates also read the state.
      leak: the openness of a closed unit.
      ratio_on: the initial share of a period in which a unit is open.
      trainable_ratio_on: whether to train ratio_on.
      period_init_min: the smallest initial period.
      period_init_max: the largest; logarithms of periods are drawn uniformly between them.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ):
        super().__init__(num_units, None, reuse)
        self._use_peepholes, self._leak = use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._period = period_init_min, period_init_max

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        (time, x), (old, hidden), units = inputs, state, self._num_units
        step_inputs = [x, hidden]
        with v1.variable_scope("mask_gates"):
            gates = linear([*step_inputs, old] if self._use_peepholes else step_inputs, 2 * units)
        i, f = tf.split(tf.sigmoid(gates), 2, axis=1)
        with v1.variable_scope("new_input"):
            new = tf.tanh(linear(step_inputs, units))
        cell = old * f + i * new
        with v1.variable_scope("output_gate"):
            o = tf.sigmoid(
                linear([*step_inputs, cell] if self._use_peepholes else step_inputs, units)
            )
        output = tf.tanh(cell) * o
        openness = self._openness(time)
        cell = openness * cell + (1 - openness) * old
        output = openness * output + (1 - openness) * hidden
        return output, LSTMStateTuple(cell, output)

    def _openness(self, time: Any) -> Any:
        least, most = self._period

        def periods(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
            del partition_info
            return tf.exp(v1.random_uniform(shape, math.log(least), math.log(most), dtype))

        units = [self._num_units]
        period = v1.get_variable("period", units, initializer=periods)

        def phases(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
            del partition_info
            return v1.random_uniform(shape, 0.0, period.initial_value, dtype)

        phase = v1.get_variable("phase", units, initializer=phases)
        ratio_on = v1.get_variable(
            "ratio_on",
            units,
            initializer=v1.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        shifted, period = time - tf.cast(phase, time.dtype), tf.cast(period, time.dtype)
        # Sets the gradient of the remainder by the time to 1, whatever floormod's gradient is.
        position = tf.stop_gradient(tf.math.floormod(shifted, period) - shifted) + shifted
        ratio = tf.cast(position / period, tf.float32)
        rising = 2 * ratio / ratio_on
        opened = tf.where(ratio < ratio_on, 2 - rising, self._leak * ratio)
        return tf.where(ratio < 0.5 * ratio_on, rising, opened)


def _variable(name: str, shape: Any, dtype: Any, initializer: Any = None) -> Any:
    return tf.convert_to_tensor(v1.get_variable(name, shape, dtype, initializer))
