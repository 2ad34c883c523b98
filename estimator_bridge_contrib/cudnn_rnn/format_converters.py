"""Conversions between cuDNN's parameters and the variables of equivalent cells.

Programs override the methods that convert one cell's weights or biases, so these have the names
and arguments of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_GRU_PARAMS_PER_LAYER,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_LSTM_PARAMS_PER_LAYER,
    CUDNN_RNN_RELU,
    CUDNN_RNN_RELU_PARAMS_PER_LAYER,
    CUDNN_RNN_TANH,
    CUDNN_RNN_TANH_PARAMS_PER_LAYER,
    CUDNN_RNN_UNIDIRECTION,
)
from estimator_bridge_contrib.cudnn_rnn.opaque_params import Layout

__all__ = [
    "CudnnParamsFormatConverter",
    "CudnnParamsFormatConverterBasic",
    "CudnnParamsFormatConverterGRU",
    "CudnnParamsFormatConverterLSTM",
    "CudnnParamsFormatConverterRelu",
    "CudnnParamsFormatConverterTanh",
]

Tensors = Sequence[Any]


class CudnnParamsFormatConverter:
    """Converts a network's parameters between three forms.

    They are the opaque vector; cuDNN's canonical form, with a matrix and a bias for each gate and
    for input and state; and TensorFlow's, with the variables of equivalent cells.

    Args:
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      num_proj: the size to which an LSTM's outputs are projected; None or 0 for no projection.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
    """

    _rnn_mode: str
    _num_params_per_layer: int

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
    ):
        self._num_layers = num_layers
        self._input_size = input_size
        self._num_units = num_units
        self._input_mode = input_mode
        self._num_proj = num_proj
        self._direction = direction
        self._num_dirs = 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
        self._num_params = self._num_params_per_layer * num_layers * self._num_dirs

    def tf_canonical_to_opaque(
        self, tf_canonicals: Tensors, weights_proj: Tensors | None = None
    ) -> tf.Tensor:
        """Returns the opaque vector of cells' variables.

        Args:
          tf_canonicals: the kernels of all cells, layer by layer and forward before backward, and
            then their biases.
          weights_proj: the kernels of the projections.
        """
        return self._cu_canonical_to_opaque(
            *self._tf_canonical_to_cu_canonical(tf_canonicals, weights_proj)
        )

    def opaque_to_tf_canonical(self, opaque_param: Any) -> tuple[list[tf.Tensor], ...]:
        """Returns the values of cells' variables.

        Args:
          opaque_param: the opaque vector.

        Returns:
          The kernels, the biases, and with num_proj the kernels of the projections.
        """
        return self._cu_canonical_to_tf_canonical(*self._opaque_to_cu_canonical(opaque_param))

    def _layout(self) -> Layout:
        return Layout(
            self._rnn_mode, self._num_layers, self._num_units, self._input_size, self._input_mode,
            self._direction, self._num_proj,
        )  # fmt: skip

    def _opaque_to_cu_canonical(self, opaque_param: Any) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        return self._layout().split(opaque_param)

    def _cu_canonical_to_opaque(self, cu_weights: Tensors, cu_biases: Tensors) -> tf.Tensor:
        return self._layout().join(cu_weights, cu_biases)

    def _cu_canonical_to_tf_canonical(
        self, cu_weights: Tensors, cu_biases: Tensors
    ) -> tuple[list[tf.Tensor], ...]:
        kernels: list[tf.Tensor] = []
        biases: list[tf.Tensor] = []
        projections: list[tf.Tensor] = []
        cells = self._num_layers * self._num_dirs
        for weights, some in zip(_shared_out(cu_weights, cells), _shared_out(cu_biases, cells)):
            matrices = list(self._cudnn_to_tf_weights(*weights))
            if self._num_proj:
                projections.append(matrices.pop())
            kernels.extend(matrices)
            biases.extend(self._cudnn_to_tf_biases(*some))
        return (kernels, biases, projections) if self._num_proj else (kernels, biases)

    def _tf_canonical_to_cu_canonical(
        self, tf_canonicals: Tensors, weights_proj: Tensors | None
    ) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        kernels, biases = _shared_out(tf_canonicals, 2)
        cells = self._num_layers * self._num_dirs
        cu_weights: list[tf.Tensor] = []
        cu_biases: list[tf.Tensor] = []
        pairs = zip(_shared_out(kernels, cells), _shared_out(biases, cells))
        for number, (some, others) in enumerate(pairs):
            cu_weights.extend(self._tf_to_cudnn_weights(number // self._num_dirs, *some))
            if weights_proj is not None:
                cu_weights.append(tf.transpose(weights_proj[number]))
            cu_biases.extend(self._tf_to_cudnn_biases(*others))
        return cu_weights, cu_biases

    def _widths(self, layer: int) -> list[int]:
        """Returns the sizes of a layer's input and of its outputs in one direction."""
        outputs = self._num_proj or self._num_units
        return [outputs * self._num_dirs if layer else self._input_size, outputs]

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> tuple[tf.Tensor, ...]:
        """Returns a cell's kernels of cuDNN's matrices; with num_proj, the projection's is last."""
        raise NotImplementedError("Abstract method")

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> tuple[tf.Tensor, ...]:
        """Returns cuDNN's matrices of a cell's kernels, without the projection's."""
        raise NotImplementedError("Abstract method")

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> tuple[tf.Tensor, ...]:
        """Returns a cell's biases of cuDNN's."""
        raise NotImplementedError("Abstract method")

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> tuple[tf.Tensor, ...]:
        """Returns cuDNN's biases of a cell's, halved between input and state."""
        raise NotImplementedError("Abstract method")


class CudnnParamsFormatConverterLSTM(CudnnParamsFormatConverter):
    """Converts the parameters of LSTM layers."""

    _rnn_mode = CUDNN_LSTM
    _num_params_per_layer = CUDNN_LSTM_PARAMS_PER_LAYER

    def _cudnn_to_tf_gate_params(self, *cu_gate_order: Any) -> list[Any]:
        """Returns values of cuDNN's gates in the order of cells."""
        i, f, new, o = cu_gate_order
        return [i, new, f, o]

    def _tf_to_cudnn_gate_params(self, *tf_gate_order: Any) -> list[Any]:
        """Returns values of a cell's gates in the order of cuDNN."""
        i, new, f, o = tf_gate_order
        return [i, f, new, o]

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> tuple[tf.Tensor, ...]:
        gates = self._num_params_per_layer // 2
        both = [tf.concat(pair, 1) for pair in zip(cu_weights[:gates], cu_weights[gates:])]
        kernel = tf.transpose(tf.concat(self._cudnn_to_tf_gate_params(*both), 0))
        return (kernel, *(tf.transpose(each) for each in cu_weights[2 * gates :]))

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> tuple[tf.Tensor, ...]:
        (kernel,) = tf_weights
        gates = tf.split(tf.transpose(kernel), self._num_params_per_layer // 2, 0)
        pairs = [
            tf.split(gate, self._widths(layer), 1) for gate in self._tf_to_cudnn_gate_params(*gates)
        ]
        return (*(pair[0] for pair in pairs), *(pair[1] for pair in pairs))

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> tuple[tf.Tensor, ...]:
        gates = self._num_params_per_layer // 2
        sums = [a + b for a, b in zip(cu_biases[:gates], cu_biases[gates:])]
        return (tf.concat(self._cudnn_to_tf_gate_params(*sums), 0),)

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> tuple[tf.Tensor, ...]:
        (bias,) = tf_biases
        gates = tf.split(bias, self._num_params_per_layer // 2, 0)
        halves = [gate * 0.5 for gate in self._tf_to_cudnn_gate_params(*gates)]
        return (*halves, *halves)


class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Converts the parameters of GRU layers."""

    _rnn_mode = CUDNN_GRU
    _num_params_per_layer = CUDNN_GRU_PARAMS_PER_LAYER
    _rnn_cell_name = "cudnn_compatible_gru_cell"

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> tuple[tf.Tensor, ...]:
        reset, update, new, state_reset, state_update, state_new = cu_weights
        rows = [tf.concat([reset, state_reset], 1), tf.concat([update, state_update], 1)]
        return tf.transpose(tf.concat(rows, 0)), tf.transpose(new), tf.transpose(state_new)

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> tuple[tf.Tensor, ...]:
        gates, new, state_new = (tf.transpose(each) for each in tf_weights)
        pairs = [tf.split(gate, self._widths(layer), 1) for gate in tf.split(gates, 2, 0)]
        return pairs[0][0], pairs[1][0], new, pairs[0][1], pairs[1][1], state_new

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> tuple[tf.Tensor, ...]:
        reset, update, new, state_reset, state_update, state_new = cu_biases
        gates = tf.concat([reset, update], 0) + tf.concat([state_reset, state_update], 0)
        return gates, new, state_new

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> tuple[tf.Tensor, ...]:
        gates, new, state_new = tf_biases
        reset, update = tf.split(gates * 0.5, 2, 0)
        return reset, update, new, reset, update, state_new


class CudnnParamsFormatConverterBasic(CudnnParamsFormatConverterLSTM):
    """Converts the parameters of layers with one gate."""

    def _cudnn_to_tf_gate_params(self, *cu_gate_order: Any) -> list[Any]:
        return list(cu_gate_order)

    def _tf_to_cudnn_gate_params(self, *tf_gate_order: Any) -> list[Any]:
        return list(tf_gate_order)


class CudnnParamsFormatConverterTanh(CudnnParamsFormatConverterBasic):
    """Converts the parameters of layers with tanh."""

    _rnn_mode = CUDNN_RNN_TANH
    _num_params_per_layer = CUDNN_RNN_TANH_PARAMS_PER_LAYER


class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterBasic):
    """Converts the parameters of layers with relu."""

    _rnn_mode = CUDNN_RNN_RELU
    _num_params_per_layer = CUDNN_RNN_RELU_PARAMS_PER_LAYER


def _shared_out(values: Tensors, count: int) -> list[Tensors]:
    """Returns a list's parts of equal length."""
    each = len(values) // count
    return [values[number * each : (number + 1) * each] for number in range(count)]
