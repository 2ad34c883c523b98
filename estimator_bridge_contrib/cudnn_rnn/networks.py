"""The operations' classes: networks whose parameters are one vector, which the caller keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.functions import run_layout
from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_GRU_PARAMS_PER_LAYER,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_LSTM_PARAMS_PER_LAYER,
    CUDNN_RNN_BIDIRECTION,
    CUDNN_RNN_RELU,
    CUDNN_RNN_RELU_PARAMS_PER_LAYER,
    CUDNN_RNN_TANH,
    CUDNN_RNN_TANH_PARAMS_PER_LAYER,
    CUDNN_RNN_UNIDIRECTION,
)
from estimator_bridge_contrib.cudnn_rnn.opaque_params import (
    Layout,
    cudnn_rnn_canonical_to_opaque_params,
    cudnn_rnn_opaque_params_size,
    cudnn_rnn_opaque_params_to_canonical,
)

__all__ = ["CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"]


class _Network:
    """A network.

    Args:
      rnn_mode: 'lstm', 'gru', 'rnn_tanh' or 'rnn_relu'.
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      dtype: the parameters' type.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of what is dropped.
      num_proj: the size to which an LSTM's outputs are projected; None or 0 for no projection.
    """

    def __init__(
        self,
        rnn_mode: str,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dtype: Any = tf.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
        num_proj: int | None = None,
    ):
        self._described: dict[str, Any] = {
            "rnn_mode": rnn_mode,
            "num_layers": num_layers,
            "num_units": num_units,
            "input_size": input_size,
            "input_mode": input_mode,
            "direction": direction,
            "num_proj": num_proj,
            "dropout": dropout,
            "seed": seed,
        }
        self._dtype = dtype

    @property
    def input_mode(self) -> str:
        """'linear_input' or 'auto_select'."""
        return self._described["input_mode"]

    @property
    def input_size(self) -> int:
        """The inputs' size."""
        return self._described["input_size"]

    @property
    def num_units(self) -> int:
        """The size of the states."""
        return self._described["num_units"]

    @property
    def num_layers(self) -> int:
        """The number of layers."""
        return self._described["num_layers"]

    @property
    def rnn_mode(self) -> str:
        """'lstm', 'gru', 'rnn_tanh' or 'rnn_relu'."""
        return self._described["rnn_mode"]

    @property
    def direction(self) -> str:
        """'unidirectional' or 'bidirectional'."""
        return self._described["direction"]

    @property
    def num_proj(self) -> int | None:
        """The size of an LSTM's projection."""
        return self._described["num_proj"]

    def params_size(self) -> tf.Tensor:
        """Returns the size of the vector of parameters, an int32 scalar."""
        return cudnn_rnn_opaque_params_size(dtype=self._dtype, **self._described)

    def params_to_canonical(self, params: Any) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        """Returns the matrices and biases; see ``cudnn_rnn_opaque_params_to_canonical``."""
        return cudnn_rnn_opaque_params_to_canonical(params=params, **self._described)

    def canonical_to_params(self, weights: Sequence[Any], biases: Sequence[Any]) -> tf.Tensor:
        """Returns the vector of parameters; see ``cudnn_rnn_canonical_to_opaque_params``."""
        return cudnn_rnn_canonical_to_opaque_params(
            weights=weights, biases=biases, **self._described
        )

    def _run(
        self,
        inputs: Any,
        input_h: Any,
        input_c: Any,
        params: Any,
        lengths: Any,
        time_major: bool,
        is_training: bool,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        options = dict(self._described)
        dropout, seed = options.pop("dropout"), options.pop("seed")
        return run_layout(
            Layout(**options), inputs, input_h, input_c, params, is_training, lengths, time_major,
            dropout, seed,
        )  # fmt: skip


class CudnnLSTM(_Network):
    """LSTM layers.

    Args:
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      dtype: the parameters' type.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of what is dropped.
      num_proj: the size to which the outputs are projected; None or 0 for no projection.
    """

    _NUM_PARAMS_PER_LAYER = CUDNN_LSTM_PARAMS_PER_LAYER

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dtype: Any = tf.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
        num_proj: int | None = None,
    ):
        super().__init__(
            CUDNN_LSTM, num_layers, num_units, input_size, input_mode, direction, dtype, dropout,
            seed, num_proj,
        )  # fmt: skip

    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        input_c: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Runs over sequences; see ``cudnn_rnn``.

        Returns:
          The outputs, the final outputs and the final states of the cells.
        """
        return self._run(
            input_data, input_h, input_c, params, sequence_lengths, time_major, is_training
        )


class _NetworkNoInputC(_Network):
    """A network without cells' states.

    Args:
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      dtype: the parameters' type.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of what is dropped.

    Raises:
      ValueError: the direction is unknown.
    """

    _rnn_mode = ""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dtype: Any = tf.float32,
        dropout: float = 0.0,
        seed: int | None = 0,
    ):
        if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
            raise ValueError(f"Invalid direction: {direction}")
        super().__init__(
            self._rnn_mode, num_layers, num_units, input_size, input_mode, direction, dtype,
            dropout, seed,
        )  # fmt: skip

    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Runs over sequences; see ``cudnn_rnn``.

        Returns:
          The outputs and the final outputs.
        """
        outputs, output_h, _ = self._run(
            input_data, input_h, None, params, sequence_lengths, time_major, is_training
        )
        return outputs, output_h


class CudnnGRU(_NetworkNoInputC):
    """GRU layers."""

    _rnn_mode = CUDNN_GRU
    _NUM_PARAMS_PER_LAYER = CUDNN_GRU_PARAMS_PER_LAYER


class CudnnRNNTanh(_NetworkNoInputC):
    """Layers with tanh."""

    _rnn_mode = CUDNN_RNN_TANH
    _NUM_PARAMS_PER_LAYER = CUDNN_RNN_TANH_PARAMS_PER_LAYER


class CudnnRNNRelu(_NetworkNoInputC):
    """Layers with relu."""

    _rnn_mode = CUDNN_RNN_RELU
    _NUM_PARAMS_PER_LAYER = CUDNN_RNN_RELU_PARAMS_PER_LAYER
