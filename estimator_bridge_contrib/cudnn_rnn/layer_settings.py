"""The settings of cuDNN's layers, and the shapes of their parameters."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_INPUT_SKIP_MODE,
    check_direction,
    check_input_mode,
    check_linear_input,
    directions,
)
from estimator_bridge_contrib.cudnn_rnn.opaque_params import FLOATS, Layout
from estimator_bridge_contrib.rnn.base import Layer

__all__ = ["LayerWithSettings"]

v1 = tf.compat.v1


class LayerWithSettings(Layer):
    """A stack of recurrent layers, without its variables.

    Args:
      num_layers: the number of layers.
      num_units: the size of the states.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of initial values and dropout.
      dtype: the variables' type.
      kernel_initializer: makes each gate's matrices; Glorot's by default.
      bias_initializer: makes each of cuDNN's two biases of a gate; zeros by default.
      name: the layer's scope.

    Raises:
      ValueError: an argument has an unsupported value.
    """

    _rnn_mode = ""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        check_direction(direction)
        check_input_mode(input_mode)
        if input_mode == CUDNN_INPUT_SKIP_MODE:
            check_linear_input(input_mode, 0, num_units)
        if dtype not in FLOATS:
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._plain_dtype = dtype
        self._num_layers = num_layers
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._dropout = dropout
        self._seed = seed
        self._kernel_initializer = kernel_initializer or v1.glorot_uniform_initializer(seed=seed)
        self._bias_initializer = bias_initializer or v1.zeros_initializer()
        self._input_size: int | None = None

    @property
    def num_layers(self) -> int:
        """The number of layers."""
        return self._num_layers

    @property
    def num_units(self) -> int:
        """The size of the states."""
        return self._num_units

    @property
    def input_mode(self) -> str:
        """'linear_input' or 'auto_select'."""
        return self._input_mode

    @property
    def input_size(self) -> int:
        """The inputs' size, which is known when the layer is built."""
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self) -> str:
        """'lstm', 'gru', 'rnn_tanh' or 'rnn_relu'."""
        return self._rnn_mode

    @property
    def direction(self) -> str:
        """'unidirectional' or 'bidirectional'."""
        return self._direction

    @property
    def num_dirs(self) -> int:
        """The number of directions."""
        return directions(self._direction)

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the matrices of all gates."""
        if not self._input_size:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known"
            )
        return self._layout().weight_shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of the biases of all gates."""
        return self._layout().bias_shapes

    def state_shape(self, batch_size: Any) -> tuple[Any, ...]:
        """Returns the shapes of the state's parts, each [layers * directions, batch, units]."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],)

    def _layout(self) -> Layout:
        return Layout(
            self._rnn_mode, self._num_layers, self._num_units, self._input_size or 0,
            self._input_mode, self._direction,
        )  # fmt: skip
