"""cuDNN's networks as functions of their inputs and a vector of parameters."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.cudnn_rnn.modes import (
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
from estimator_bridge.contrib.cudnn_rnn.opaque_params import FLOATS, Layout
from estimator_bridge.contrib.cudnn_rnn.recurrence import run_network

__all__ = [
    "cudnn_gru",
    "cudnn_lstm",
    "cudnn_rnn",
    "cudnn_rnn_no_input_c",
    "cudnn_rnn_relu",
    "cudnn_rnn_tanh",
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
        if rnn_mode == CUDNN_LSTM:
            state.append(_of_rank_3("input_c", input_c, values.dtype))
        if not time_major:
            values, *state = (tf.transpose(each, [1, 0, 2]) for each in (values, *state))
        layout = _layout(values, state, rnn_mode, input_mode, direction, num_proj)
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


def _layout(
    values: tf.Tensor,
    state: list[tf.Tensor],
    rnn_mode: str,
    input_mode: str,
    direction: str,
    num_proj: int | None,
) -> Layout:
    """Returns the network that the sizes of inputs and states, time first, describe."""
    cells, units, size = state[0].shape[0], state[-1].shape[-1], values.shape[-1]
    if None in (cells, units, size):
        raise ValueError(
            "The sizes of the inputs and of the states, and the number of layers, must be known: "
            f"input has the shape {values.shape}, the states {[each.shape for each in state]}. "
            "Set them with set_shape()."
        )
    num_dirs = directions(direction)
    if cells % num_dirs:
        raise ValueError(f"{cells} states do not divide into {num_dirs} directions.")
    layout = Layout(rnn_mode, cells // num_dirs, units, size, input_mode, direction, num_proj)
    sizes = (layout.output_size, layout.num_units)
    for part, expected in zip(state, sizes):
        if not part.shape.is_compatible_with([cells, values.shape[1], expected]):
            raise ValueError(
                f"A state has the shape {part.shape}, with time_major; expected: "
                f"{[cells, values.shape[1], expected]}."
            )
    return layout
