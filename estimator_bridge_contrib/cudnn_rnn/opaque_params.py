"""The parameters of a cuDNN network in one vector, and as matrices and biases.

cuDNN does not document the order in its buffer. Here it is: for each layer and direction the
matrices of the gates, each with num_units rows, first those for the input, then those for the state
(and an LSTM's projection), and after all matrices the biases in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_UNIDIRECTION,
    check_linear_input,
    check_rnn_mode,
    directions,
    params_per_layer,
)

__all__ = [
    "FLOATS",
    "Layout",
    "cudnn_rnn_canonical_to_opaque_params",
    "cudnn_rnn_opaque_params_size",
    "cudnn_rnn_opaque_params_to_canonical",
]

FLOATS = (tf.float16, tf.bfloat16, tf.float32, tf.float64)


@dataclass(frozen=True)
class Layout:
    """A network, and where its parameters are in the vector.

    Attributes:
      rnn_mode: 'lstm', 'gru', 'rnn_tanh' or 'rnn_relu'.
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      num_proj: the size to which an LSTM's outputs are projected; None or 0 for no projection.

    Raises:
      ValueError: an argument has an unsupported value.
    """

    rnn_mode: str
    num_layers: int
    num_units: int
    input_size: int
    input_mode: str = CUDNN_INPUT_LINEAR_MODE
    direction: str = CUDNN_RNN_UNIDIRECTION
    num_proj: int | None = None

    def __post_init__(self) -> None:
        check_rnn_mode(self.rnn_mode)
        directions(self.direction)
        check_linear_input(self.input_mode, self.input_size, self.num_units)
        if self.num_proj and self.rnn_mode != CUDNN_LSTM:
            raise ValueError(f"num_proj needs rnn_mode 'lstm', not {self.rnn_mode!r}.")

    @property
    def num_dirs(self) -> int:
        """The number of directions."""
        return directions(self.direction)

    @property
    def gates(self) -> int:
        """The number of gates of a cell."""
        return params_per_layer(self.rnn_mode) // 2

    @property
    def output_size(self) -> int:
        """The size of the outputs of one direction."""
        return self.num_proj or self.num_units

    @property
    def weights_per_cell(self) -> int:
        """The number of matrices of one layer in one direction."""
        return 2 * self.gates + bool(self.num_proj)

    def cell_weight_shapes(self, layer: int) -> list[tuple[int, int]]:
        """Returns the shapes of the matrices of one layer in one direction."""
        width = self.output_size * self.num_dirs if layer else self.input_size
        shapes = [(self.num_units, width)] * self.gates
        shapes += [(self.num_units, self.output_size)] * self.gates
        return shapes + [(self.output_size, self.num_units)] * bool(self.num_proj)

    @property
    def weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of all matrices, in their order."""
        return [
            shape
            for layer in range(self.num_layers)
            for shape in self.cell_weight_shapes(layer) * self.num_dirs
        ]

    @property
    def bias_shapes(self) -> list[list[int]]:
        """The shapes of all biases, in their order."""
        return [[self.num_units]] * (2 * self.gates * self.num_layers * self.num_dirs)

    @property
    def size(self) -> int:
        """The size of the vector."""
        return sum(self._sizes())

    def split(self, params: Any) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        """Returns the matrices and the biases of a vector."""
        params = tf.convert_to_tensor(params)
        if not params.shape.is_compatible_with([self.size]):
            raise ValueError(
                f"The parameters have the shape {params.shape}, instead of [{self.size}] for "
                f"{self}. A buffer from a GPU of TensorFlow 1 cannot be used; convert it there "
                "with params_to_canonical()."
            )
        parts = tf.split(tf.ensure_shape(params, [self.size]), self._sizes())
        shapes = self.weight_shapes
        weights = [tf.reshape(part, shape) for part, shape in zip(parts, shapes)]
        return weights, list(parts[len(shapes) :])

    def join(self, weights: Sequence[Any], biases: Sequence[Any]) -> tf.Tensor:
        """Returns the vector of matrices, which may be flat, and biases."""
        counts, expected = (len(weights), len(biases)), (len(self.weight_shapes), self._biases)
        if counts != expected:
            raise ValueError(
                f"{self} has {expected[0]} weights and {expected[1]} biases; given: {counts[0]} "
                f"and {counts[1]}."
            )
        parts = [tf.reshape(part, [size]) for part, size in zip([*weights, *biases], self._sizes())]
        return tf.concat(parts, 0)

    @property
    def _biases(self) -> int:
        return len(self.bias_shapes)

    def _sizes(self) -> list[int]:
        return [int(np.prod(shape)) for shape in (*self.weight_shapes, *self.bias_shapes)]


def cudnn_rnn_opaque_params_size(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dtype: Any = tf.float32,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Returns the size of a network's vector of parameters.

    Args:
      rnn_mode: see ``Layout``; so are num_layers, num_units, input_size, input_mode, direction and
        num_proj.
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      input_mode: the input mode.
      direction: 'unidirectional' or 'bidirectional'.
      dtype: the parameters' type.
      dropout: ignored; it needs no parameters.
      seed: ignored.
      num_proj: the size of an LSTM's projection.
      name: the operation's name.

    Returns:
      An int32 scalar.

    Raises:
      TypeError: dtype is not a type of floats.
      ValueError: an argument has an unsupported value.
    """
    del dropout, seed
    layout = Layout(
        rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj
    )  # fmt: skip
    if tf.as_dtype(dtype) not in FLOATS:
        raise TypeError(
            f"Value passed to parameter 'T' has DataType {tf.as_dtype(dtype).name} not in list of "
            f"allowed values: {', '.join(each.name for each in FLOATS)}"
        )
    return tf.constant(layout.size, tf.int32, name=name or "CudnnRNNParamsSize")


def cudnn_rnn_opaque_params_to_canonical(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    params: Any,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
    """Returns the matrices and the biases of a vector of parameters.

    Args:
      rnn_mode: see ``Layout``; so are num_layers, num_units, input_size, input_mode, direction and
        num_proj.
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      params: the vector.
      input_mode: the input mode.
      direction: 'unidirectional' or 'bidirectional'.
      dropout: ignored; it needs no parameters.
      seed: ignored.
      num_proj: the size of an LSTM's projection.
      name: the operations' scope.

    Returns:
      The matrices, [num_units, size] each, and the biases, [num_units] each, for each layer and
      direction: those for the input, then those for the state.

    Raises:
      ValueError: an argument has an unsupported value, or params is not of the network's size.
    """
    del dropout, seed
    layout = Layout(
        rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj
    )  # fmt: skip
    with tf.name_scope(name or "CudnnRNNParamsToCanonical"):
        return layout.split(params)


def cudnn_rnn_canonical_to_opaque_params(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    weights: Sequence[Any],
    biases: Sequence[Any],
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Returns the vector of parameters that has given matrices and biases.

    Args:
      rnn_mode: see ``Layout``; so are num_layers, num_units, input_size, input_mode, direction and
        num_proj.
      num_layers: the number of layers.
      num_units: the size of the states.
      input_size: the inputs' size.
      weights: the matrices, in the order of ``cudnn_rnn_opaque_params_to_canonical``.
      biases: the biases, in the same order.
      input_mode: the input mode.
      direction: 'unidirectional' or 'bidirectional'.
      dropout: ignored; it needs no parameters.
      seed: ignored.
      num_proj: the size of an LSTM's projection.
      name: the operations' scope.

    Raises:
      ValueError: an argument has an unsupported value, or the number or a size of weights or biases
        is not the network's.
    """
    del dropout, seed
    layout = Layout(
        rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj
    )  # fmt: skip
    with tf.name_scope(name or "CudnnRNNCanonicalToParams"):
        return layout.join(weights, biases)
