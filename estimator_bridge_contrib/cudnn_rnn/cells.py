"""Cells equivalent to cuDNN's layers, with the same variables in checkpoints."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import LayerRNNCell, zeros
from estimator_bridge_contrib.rnn.block_cells import LSTMBlockCell

__all__ = ["CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell", "gru_step", "gru_variables"]

_CANDIDATE = ("candidate/input_projection", "candidate/hidden_projection")


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The LSTM cell of ``CudnnLSTM``, without a forget bias.

    Args:
      num_units: the state's size.
      reuse: whether to reuse existing variables.
    """

    def __init__(self, num_units: int, reuse: bool | None = None):
        super().__init__(num_units, forget_bias=0.0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(LayerRNNCell):
    """The GRU cell of ``CudnnGRU``, which applies the reset gate after the product with the state.

    Args:
      num_units: the state's size.
      reuse: whether to reuse existing variables.
      kernel_initializer: initializer of the kernels; the scope's by default.
    """

    def __init__(self, num_units: int, reuse: bool | None = None, kernel_initializer: Any = None):
        super().__init__(_reuse=reuse, name="cudnn_compatible_gru_cell")
        self._num_units = num_units
        self._kernel_initializer = kernel_initializer

    @property
    def state_size(self) -> int:
        """The state's size."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The output's size, which is the state's."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        size = tf.TensorShape(inputs_shape).as_list()[-1]
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")

        def make(name: str, shape: list[int]) -> Any:
            if name.endswith("kernel"):
                return self.add_weight(name, shape, initializer=self._kernel_initializer)
            ones = tf.compat.v1.ones_initializer()
            initializer = ones if name.startswith("gates") else zeros()
            return self.add_weight(name, shape, initializer=initializer)

        self._weights = gru_variables(make, size, self._num_units)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output, which is also the new state."""
        return gru_step(self._weights, inputs, state)


def gru_variables(make: Any, input_size: int, units: int) -> dict[str, Any]:
    """Makes the variables of a GRU.

    Args:
      make: a function of a name and a shape, which makes a variable.
      input_size: the inputs' size.
      units: the state's size.

    Returns:
      The variables by name.
    """
    shapes = {"gates/kernel": [input_size + units, 2 * units], "gates/bias": [2 * units]}
    for name, size in zip(_CANDIDATE, (input_size, units)):
        shapes[f"{name}/kernel"] = [size, units]
    for name in _CANDIDATE:
        shapes[f"{name}/bias"] = [units]
    return {name: make(name, shape) for name, shape in shapes.items()}


def gru_step(weights: dict[str, Any], inputs: Any, state: Any) -> Any:
    """Runs one step of a GRU; returns the output, which is also the new state.

    Args:
      weights: the variables of ``gru_variables``.
      inputs: [batch, input_size].
      state: [batch, units].
    """

    def product(name: str, values: Any) -> tf.Tensor:
        kernel = tf.convert_to_tensor(weights[f"{name}/kernel"])
        return tf.nn.bias_add(tf.matmul(values, kernel), weights[f"{name}/bias"])

    gates = tf.sigmoid(product("gates", tf.concat([inputs, state], 1)))
    reset, update = tf.split(gates, 2, axis=1)
    from_input, from_state = _CANDIDATE
    new = tf.tanh(product(from_input, inputs) + reset * product(from_state, state))
    output = (1 - update) * new + update * state
    return output, output
