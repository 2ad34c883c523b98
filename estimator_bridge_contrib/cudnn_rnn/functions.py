"""cuDNN's networks as functions of their inputs and a vector of parameters."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
    CUDNN_RNN_UNIDIRECTION,
    check_direction,
    check_input_mode,
    check_rnn_mode,
    directions,
)
from estimator_bridge_contrib.cudnn_rnn.opaque_params import FLOATS, Layout
from estimator_bridge_contrib.cudnn_rnn.recurrence import run_network

__all__ = [
    "cudnn_gru",
    "cudnn_lstm",
    "cudnn_rnn",
    "cudnn_rnn_no_input_c",
    "cudnn_rnn_relu",
    "cudnn_rnn_tanh",
    "run_layout",
]


def cudnn_rnn(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    rnn_mode: str,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Runs a network over sequences.

    Args:
      inputs: [time, batch, size], or [batch, time, size] if not time_major.
      input_h: the initial outputs, [layers * directions, batch, units], or
        [batch, layers * directions, units] if not time_major. With num_proj their size is num_proj.
      input_c: the initial states of an LSTM's cells, like input_h with the size units; other
        networks ignore it.
      params: the vector of parameters, from ``cudnn_rnn_canonical_to_opaque_params``.
      is_training: whether to drop values.
      rnn_mode: 'lstm', 'gru', 'rnn_tanh' or 'rnn_relu'.
      sequence_lengths: [batch], the lengths; all steps by default. Outputs after the end are zeros.
      time_major: whether time is the first dimension.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of what is dropped.
      num_proj: the size to which an LSTM's outputs are projected.
      name: the operations' scope.

    Returns:
      The outputs, [time, batch, units * directions], or [batch, time, ...]; and the final outputs
      and cells' states, in the form of input_h and input_c. Of other networks than LSTMs the last
      is empty.

    Raises:
      TypeError: is_training is no bool, sequence_lengths is one, or the inputs are no floats.
      ValueError: an argument has an unsupported value or shape.
    """
    check_rnn_mode(rnn_mode)
    check_direction(direction)
    check_input_mode(input_mode)
    layout = _layout(
        inputs, input_h, input_c, params, rnn_mode, input_mode, direction, num_proj, time_major
    )  # fmt: skip
    return run_layout(
        layout, inputs, input_h, input_c, params, is_training, sequence_lengths, time_major,
        dropout, seed, name,
    )  # fmt: skip


def run_layout(
    layout: Layout,
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Runs a network of which all sizes are known; see ``cudnn_rnn``."""
    if not isinstance(is_training, bool):
        raise TypeError(
            f"Expected bool for argument 'is_training' not {is_training!r}. To choose while the "
            "model runs, use tf.cond with one network for each."
        )
    if isinstance(sequence_lengths, bool):
        raise TypeError(
            f"Expected int32 for sequence_lengths, got {sequence_lengths} of type 'bool'. In "
            "TensorFlow 1.15 it is the argument after params; pass is_training=... by its name."
        )
    with tf.name_scope(name or "CudnnRNN"):
        values = _of_rank_3("input", inputs, None)
        state = [_of_rank_3("input_h", input_h, values.dtype)]
        if layout.rnn_mode == CUDNN_LSTM:
            state.append(_of_rank_3("input_c", input_c, values.dtype))
        if not time_major:
            values, *state = (tf.transpose(each, [1, 0, 2]) for each in (values, *state))
        sizes = (each.shape.with_rank(3).as_list()[1] for each in (values, *state))
        batch = next((each for each in sizes if each is not None), None)
        values = _sized("input", values, [None, batch, layout.input_size])
        cells = layout.num_layers * layout.num_dirs
        state = [
            _sized("A state", each, [cells, batch, size])
            for each, size in zip(state, (layout.output_size, layout.num_units))
        ]
        outputs, final = run_network(
            layout, params, values, tuple(state), sequence_lengths,
            dropout if is_training else 0.0, seed,
        )  # fmt: skip
        if not time_major:
            outputs, *final = (tf.transpose(each, [1, 0, 2]) for each in (outputs, *final))
        empty = [] if len(final) == 2 else [tf.zeros([0], values.dtype)]
    output_h, output_c = [*final, *empty]
    return outputs, output_h, output_c


def cudnn_rnn_no_input_c(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    rnn_mode: str,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Runs a network without cells' states; see ``cudnn_rnn``.

    Returns:
      The outputs and the final outputs.
    """
    outputs, output_h, _ = cudnn_rnn(
        inputs, input_h, None, params, is_training, rnn_mode, sequence_lengths, time_major,
        input_mode, direction, dropout, seed, None, name,
    )  # fmt: skip
    return outputs, output_h


def cudnn_lstm(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Runs an LSTM; see ``cudnn_rnn``.

    Returns:
      The outputs, the final outputs and the final states of the cells.
    """
    return cudnn_rnn(
        inputs, input_h, input_c, params, is_training, CUDNN_LSTM, sequence_lengths, time_major,
        input_mode, direction, dropout, seed, num_proj, name,
    )  # fmt: skip


def cudnn_gru(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Runs a GRU; see ``cudnn_rnn``.

    Returns:
      The outputs and the final outputs.
    """
    return cudnn_rnn_no_input_c(
        inputs, input_h, params, is_training, CUDNN_GRU, sequence_lengths, time_major, input_mode,
        direction, dropout, seed, name,
    )  # fmt: skip


def cudnn_rnn_relu(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    sequence_lengths: Any = None,
    time_major: bool = True,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Runs a network with relu; see ``cudnn_rnn``.

    Returns:
      The outputs and the final outputs.
    """
    return cudnn_rnn_no_input_c(
        inputs, input_h, params, is_training, CUDNN_RNN_RELU, sequence_lengths, time_major,
        input_mode, direction, dropout, seed, name,
    )  # fmt: skip


def cudnn_rnn_tanh(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Runs a network with tanh; see ``cudnn_rnn``.

    Returns:
      The outputs and the final outputs.
    """
    return cudnn_rnn_no_input_c(
        inputs, input_h, params, is_training, CUDNN_RNN_TANH, sequence_lengths, time_major,
        input_mode, direction, dropout, seed, name,
    )  # fmt: skip


def _of_rank_3(name: str, value: Any, dtype: Any) -> tf.Tensor:
    tensor = tf.convert_to_tensor(value, dtype)
    if tensor.dtype not in FLOATS:
        raise TypeError(
            f"Value passed to parameter {name!r} has DataType {tensor.dtype.name} not in list of "
            f"allowed values: {', '.join(each.name for each in FLOATS)}"
        )
    if tensor.shape.rank not in (3, None):
        raise ValueError(f"{name} has the shape {tensor.shape}. It must have three dimensions.")
    return tensor


def _sized(name: str, tensor: tf.Tensor, shape: list[int | None]) -> tf.Tensor:
    """Returns a tensor of a known shape."""
    if not tensor.shape.is_compatible_with(shape):
        raise ValueError(
            f"{name} has the shape {tensor.shape}, with the batch second; expected: {shape}."
        )
    return tf.ensure_shape(tensor, shape)


def _layout(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    rnn_mode: str,
    input_mode: str,
    direction: str,
    num_proj: int | None,
    time_major: bool,
) -> Layout:
    """Returns the network that the sizes of inputs, states and parameters describe."""
    values, states, memory = (
        _of_rank_3(name, each, None).shape.with_rank(3).as_list()
        for name, each in (
            ("input", inputs),
            ("input_h", input_h),
            ("input_c", input_c if rnn_mode == CUDNN_LSTM else input_h),
        )
    )
    cells, units, size = states[0 if time_major else 1], memory[2], values[2]
    num_dirs = directions(direction)
    if None not in (cells, units) and cells % num_dirs:
        raise ValueError(f"{cells} states do not divide into {num_dirs} directions.")
    count = tf.convert_to_tensor(params).shape.num_elements()
    if None not in (cells, units, count) and size is None:
        # Of the parameters, only the first layer's matrices depend on the size.
        smallest = Layout(rnn_mode, cells // num_dirs, units, 0, direction=direction,
                          num_proj=num_proj)  # fmt: skip
        size = (count - smallest.size) // (num_dirs * smallest.gates * units)
    if None in (cells, units, size):
        raise ValueError(
            "The sizes of the inputs and of the states, and the number of layers, must be known: "
            f"input has the shape {values}, the states have {states} and {memory}. Set them with "
            "set_shape()."
        )
    return Layout(rnn_mode, cells // num_dirs, units, size, input_mode, direction, num_proj)
