"""LSTMBlockCell and similar cells, with the variables of the cells with fused kernels.

Here they use plain operations, so they have gradients and run on all devices.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import LayerRNNCell, LSTMStateTuple, zeros

__all__ = ["GRUBlockCell", "GRUBlockCellV2", "LSTMBlockCell", "lstm_step", "lstm_variables"]

_PEEPHOLES = ("w_i_diag", "w_f_diag", "w_o_diag")


def lstm_variables(layer: Any, input_size: int | None, units: int, peephole: bool) -> None:
    """Makes the variables of an LSTM as attributes of a layer.

    Args:
      layer: the layer that gets ``kernel``, [input_size + units, 4 units], with the gates in the
        order input, new, forget, output; ``bias``, [4 units]; and with peepholes ``w_i_diag``,
        ``w_f_diag`` and ``w_o_diag``, [units]; without, None for these.
      input_size: the inputs' size.
      units: the state's size.
      peephole: whether gates also read the cell's state.

    Raises:
      ValueError: the inputs' size is unknown.
    """
    if input_size is None:
        raise ValueError(
            f"The size of the inputs of {layer.name} is unknown. Set their last dimension, with "
            "tensor.set_shape, before calling the cell."
        )
    layer.kernel = layer.add_weight("kernel", [input_size + units, 4 * units])
    layer.bias = layer.add_weight("bias", [4 * units], initializer=zeros())
    for name in _PEEPHOLES:
        setattr(layer, name, layer.add_weight(name, [units]) if peephole else None)


def lstm_step(layer: Any, inputs: Any, state: Any, forget_bias: float, clip: float | None) -> Any:
    """Runs one step of an LSTM (https://arxiv.org/abs/1402.1128).

    Args:
      layer: a layer with the variables of ``lstm_variables``.
      inputs: [batch, input_size].
      state: the cell's state and its output, each [batch, units].
      forget_bias: added to the forget gate.
      clip: the limit of the cell's state; None or a negative number for no limit.

    Returns:
      The output and the new state.
    """
    old, hidden = state
    both = tf.concat([inputs, hidden], 1)
    gates = tf.nn.bias_add(tf.matmul(both, tf.convert_to_tensor(layer.kernel)), layer.bias)
    i, new, f, o = tf.split(gates, 4, axis=1)
    if layer.w_i_diag is not None:
        i, f = i + layer.w_i_diag * old, f + layer.w_f_diag * old
    cell = tf.sigmoid(i) * tf.tanh(new) + tf.sigmoid(f + forget_bias) * old
    if clip is not None and clip > 0:
        # The kernel's gradient passes through the clipping unchanged.
        cell += tf.stop_gradient(tf.clip_by_value(cell, -clip, clip) - cell)
    if layer.w_o_diag is not None:
        o += layer.w_o_diag * cell
    output = tf.sigmoid(o) * tf.tanh(cell)
    return output, LSTMStateTuple(cell, output)


class LSTMBlockCell(LayerRNNCell):
    """An LSTM cell, whose variables are ``lstm_cell/kernel`` and ``lstm_cell/bias``.

    Args:
      num_units: the state's size.
      forget_bias: added to the forget gate.
      cell_clip: the limit of the cell's state; None for no limit.
      use_peephole: whether gates also read the cell's state.
      dtype: the variables' type; that of the inputs by default.
      reuse: whether to reuse existing variables.
      name: the cell's scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = cell_clip
        self._use_peephole = use_peephole

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state and of its output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        lstm_variables(
            self, tf.TensorShape(inputs_shape).as_list()[-1], self._num_units, self._use_peephole
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        if len(state) != 2:
            raise ValueError(f"Expecting state to be a tuple with length 2, got {state}.")
        return lstm_step(self, inputs, state, self._forget_bias, self._cell_clip)


class GRUBlockCell(LayerRNNCell):
    """A GRU cell (https://arxiv.org/abs/1406.1078).

    The variables are ``gru_cell/w_ru``, ``b_ru``, ``w_c`` and ``b_c``.

    Args:
      num_units: the state's size.
      cell_size: the old name of num_units.
      reuse: whether to reuse existing variables.
      name: the cell's scope.

    Raises:
      ValueError: both or none of num_units and cell_size are given.
    """

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError(
                "Exactly one of num_units or cell_size must be provided, got "
                f"num_units={num_units} and cell_size={cell_size}."
            )
        self._cell_size: Any = cell_size if num_units is None else num_units

    @property
    def state_size(self) -> Any:
        """The state's size."""
        return self._cell_size

    @property
    def output_size(self) -> Any:
        """The output's size, which is the state's."""
        return self._cell_size

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        size, units = tf.TensorShape(inputs_shape).as_list()[-1], self._cell_size
        if size is None:
            raise ValueError("Expecting input_size to be set: the inputs' last dimension.")
        gate_kernel, gate_bias, kernel, bias = self._NAMES
        ones = tf.compat.v1.ones_initializer()
        self._gate_kernel = self.add_weight(gate_kernel, [size + units, 2 * units])
        self._gate_bias = self.add_weight(gate_bias, [2 * units], initializer=ones)
        self._kernel = self.add_weight(kernel, [size + units, units])
        self._bias = self.add_weight(bias, [units], initializer=zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output, which is also the new state."""
        gates = tf.sigmoid(_affine([inputs, state], self._gate_kernel, self._gate_bias))
        reset, update = tf.split(gates, 2, axis=1)
        new = tf.tanh(_affine([inputs, reset * state], self._kernel, self._bias))
        output = update * state + (1 - update) * new
        return output, output


class GRUBlockCellV2(GRUBlockCell):
    """A GRUBlockCell with the names of GRUCell's variables, to read each other's checkpoints."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


def _affine(args: list[Any], kernel: Any, bias: Any) -> tf.Tensor:
    return tf.nn.bias_add(tf.matmul(tf.concat(args, 1), tf.convert_to_tensor(kernel)), bias)
