"""An LSTM whose memory runs along the frequencies of a spectrum and along time."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import RNNCell, zeros
from estimator_bridge_contrib.rnn.frequency_slices import frequency_slices, sharded_kernel

__all__ = ["TimeFreqLSTMCell"]

v1 = tf.compat.v1


class TimeFreqLSTMCell(RNNCell):
    """An LSTM over slices of a spectrum, each of which also reads the output of the last slice.

    Li, Mohamed, Zweig, Gong, "LSTM Time and Frequency Recurrence for Automatic Speech Recognition"
    (2015). The state is, for each slice, a memory and an output: [batch, slices * 2 * num_units].

    Args:
      num_units: the size of a slice's memory.
      use_peepholes: whether the gates also read the memory.
      cell_clip: the limit of the memory; None for no limit.
      initializer: initializer of the weights; the scope's by default.
      num_unit_shards: the number of variables that the kernel is divided into.
      forget_bias: added to the forget gate.
      feature_size: the size of a slice.
      frequency_skip: the distance of a slice from the next one.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes = num_units, use_peepholes
        self._clip, self._initializer = cell_clip, initializer
        self._shards, self._forget_bias = num_unit_shards, forget_bias
        self._slices = feature_size, frequency_skip

    @property
    def output_size(self) -> int:
        """The size of one slice's output."""
        return self._num_units

    @property
    def state_size(self) -> int:
        """The size of one slice's state."""
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        (slices,) = frequency_slices(inputs, *self._slices)
        units, dtype = self._num_units, inputs.dtype.base_dtype
        rows = slices[0].shape.as_list()[1] + 2 * units
        with v1.variable_scope(v1.get_variable_scope(), initializer=self._initializer):
            kernel = sharded_kernel("W", [rows, 4 * units], dtype, self._shards)
            bias = v1.get_variable("B", [4 * units], dtype, zeros())
            names = "FIO" if self._use_peepholes else ""
            diagonals = [v1.get_variable(f"W_{name}_diag", [units], dtype) for name in names]
        outputs: list[Any] = []
        new_state = []
        for number, slice_ in enumerate(slices):
            position = 2 * number * units
            old, hidden = state[:, position : position + units], state[:, position + units :]
            below = outputs[-1] if outputs else tf.zeros_like(old)
            step_inputs = tf.concat([slice_, hidden[:, :units], below], 1)
            affine = tf.nn.bias_add(tf.matmul(step_inputs, kernel), tf.convert_to_tensor(bias))
            i, new, f, o = tf.split(affine, 4, axis=1)
            f += self._forget_bias
            if diagonals:
                f, i = f + diagonals[0] * old, i + diagonals[1] * old
            memory = tf.sigmoid(f) * old + tf.sigmoid(i) * tf.tanh(new)
            if self._clip is not None:
                memory = tf.clip_by_value(memory, -self._clip, self._clip)
            o = o + diagonals[2] * memory if diagonals else o
            outputs.append(tf.sigmoid(o) * tf.tanh(memory))
            new_state += [memory, outputs[-1]]
        return tf.concat(outputs, 1), tf.concat(new_state, 1)
