"""Objects that savers store as the variables of equivalent cells, and restore from those."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.saving import SaveableObject, SaveSpec
from estimator_bridge_contrib.cudnn_rnn.format_converters import (
    CudnnParamsFormatConverter,
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)
from estimator_bridge_contrib.cudnn_rnn.modes import CUDNN_INPUT_LINEAR_MODE, CUDNN_RNN_UNIDIRECTION

__all__ = [
    "CudnnGRUSaveable",
    "CudnnLSTMSaveable",
    "CudnnOpaqueParamsSaveable",
    "CudnnRNNReluSaveable",
    "CudnnRNNTanhSaveable",
]

v1 = tf.compat.v1


class CudnnOpaqueParamsSaveable(SaveableObject):
    """Saves an opaque vector of parameters in canonical form.

    Add it to the collection ``SAVEABLE_OBJECTS``, from which ``tf.train.Saver`` and an Estimator's
    checkpoints take it. Subclasses may override `_tf_canonical_name_prefix`, and name another
    `_format_converter_cls`.

    Args:
      opaque_params: the variable.
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      scope: the variable scope, or its name, of the cells with the same variables.
      name: the object's name.

    Raises:
      ValueError: an argument has an unsupported value.
    """

    _format_converter_cls: type[CudnnParamsFormatConverter]
    _rnn_cell_name: str

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ):
        self._num_layers = num_layers
        self._input_size = input_size
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._scope = getattr(scope, "name", scope) or None
        self._variables = opaque_params
        self._num_dirs = 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
        self._format_converter: CudnnParamsFormatConverter | None = None
        kernels, biases = self.format_converter.opaque_to_tf_canonical(opaque_params)
        self._weight_names, self._bias_names = self._tf_canonical_names()
        self._param_names = [*self._weight_names, *self._bias_names]
        prefix = f"{self._scope}/" if self._scope else ""
        specs = [
            SaveSpec(value, "", prefix + each)
            for value, each in zip([*kernels, *biases], self._param_names)
        ]
        # A tensor of its own: the saver also has the variable.
        super().__init__(tf.identity(opaque_params), specs, name)

    @property
    def format_converter(self) -> CudnnParamsFormatConverter:
        """Converts between the opaque vector and canonical forms."""
        if self._format_converter is None:
            self._format_converter = self._format_converter_cls(
                self._num_layers,
                self._num_units,
                self._input_size,
                input_mode=self._input_mode,
                direction=self._direction,
            )
        return self._format_converter

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns the operation that sets the variable.

        Args:
          restored_tensors: the values of the cells' variables.
          restored_shapes: ignored.
        """
        del restored_shapes
        params = self.format_converter.tf_canonical_to_opaque(restored_tensors)
        return v1.assign(self._variables, params, validate_shape=False)

    def _tf_canonical_names(self) -> tuple[list[str], list[str]]:
        """Returns the names of the cells' kernels and of their biases, without the scope."""
        kernels: list[str] = []
        biases: list[str] = []
        for layer in range(self._num_layers):
            for way in range(self._num_dirs):
                prefix = self._tf_canonical_name_prefix(layer, is_fwd=not way)
                self._tf_canonical_names_single_layer(prefix, kernels, biases)
        return kernels, biases

    def _tf_canonical_name_prefix(self, layer: int, is_fwd: bool = True) -> str:
        """Returns the scope of one cell."""
        if self._direction == CUDNN_RNN_UNIDIRECTION:
            return f"rnn/multi_rnn_cell/cell_{layer}/{self._rnn_cell_name}"
        way = "fw" if is_fwd else "bw"
        stack = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn"
        return f"{stack}/{way}/{self._rnn_cell_name}"

    def _tf_canonical_names_single_layer(
        self, prefix: str, tf_weights_names: list[str], tf_bias_names: list[str]
    ) -> None:
        """Appends the names of one cell's variables."""
        raise NotImplementedError("Abstract method")


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Saves the parameters of LSTM layers as those of ``CudnnCompatibleLSTMCell``."""

    _format_converter_cls = CudnnParamsFormatConverterLSTM
    _rnn_cell_name = "cudnn_compatible_lstm_cell"

    def _tf_canonical_names_single_layer(
        self, prefix: str, tf_weights_names: list[str], tf_bias_names: list[str]
    ) -> None:
        tf_weights_names.append(f"{prefix}/kernel")
        tf_bias_names.append(f"{prefix}/bias")


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Saves the parameters of GRU layers as those of ``CudnnCompatibleGRUCell``."""

    _format_converter_cls = CudnnParamsFormatConverterGRU
    _rnn_cell_name = "cudnn_compatible_gru_cell"

    def _tf_canonical_names_single_layer(
        self, prefix: str, tf_weights_names: list[str], tf_bias_names: list[str]
    ) -> None:
        parts = ("gates", "candidate/input_projection", "candidate/hidden_projection")
        tf_weights_names.extend(f"{prefix}/{part}/kernel" for part in parts)
        tf_bias_names.extend(f"{prefix}/{part}/bias" for part in parts)


class CudnnRNNTanhSaveable(CudnnLSTMSaveable):
    """Saves the parameters of layers with tanh as those of ``BasicRNNCell``."""

    _format_converter_cls = CudnnParamsFormatConverterTanh
    _rnn_cell_name = "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnLSTMSaveable):
    """Saves the parameters of layers with relu as those of ``BasicRNNCell``."""

    _format_converter_cls = CudnnParamsFormatConverterRelu
    _rnn_cell_name = "basic_rnn_cell"
