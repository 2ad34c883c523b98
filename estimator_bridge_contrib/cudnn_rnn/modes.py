"""The kinds of cuDNN's networks, and the words that select them."""

from __future__ import annotations

__all__ = [
    "CUDNN_GRU",
    "CUDNN_GRU_PARAMS_PER_LAYER",
    "CUDNN_INPUT_AUTO_MODE",
    "CUDNN_INPUT_LINEAR_MODE",
    "CUDNN_INPUT_SKIP_MODE",
    "CUDNN_LSTM",
    "CUDNN_LSTM_PARAMS_PER_LAYER",
    "CUDNN_RNN_BIDIRECTION",
    "CUDNN_RNN_RELU",
    "CUDNN_RNN_RELU_PARAMS_PER_LAYER",
    "CUDNN_RNN_TANH",
    "CUDNN_RNN_TANH_PARAMS_PER_LAYER",
    "CUDNN_RNN_UNIDIRECTION",
    "check_direction",
    "check_input_mode",
    "check_linear_input",
    "check_rnn_mode",
    "directions",
    "params_per_layer",
]

CUDNN_RNN_UNIDIRECTION = "unidirectional"
CUDNN_RNN_BIDIRECTION = "bidirectional"

CUDNN_LSTM = "lstm"
CUDNN_GRU = "gru"
CUDNN_RNN_RELU = "rnn_relu"
CUDNN_RNN_TANH = "rnn_tanh"

# For each gate: a matrix for the input and one for the state.
CUDNN_LSTM_PARAMS_PER_LAYER = 8
CUDNN_GRU_PARAMS_PER_LAYER = 6
CUDNN_RNN_TANH_PARAMS_PER_LAYER = 2
CUDNN_RNN_RELU_PARAMS_PER_LAYER = 2

CUDNN_INPUT_LINEAR_MODE = "linear_input"
CUDNN_INPUT_SKIP_MODE = "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"

_PARAMS_PER_LAYER = {
    CUDNN_LSTM: CUDNN_LSTM_PARAMS_PER_LAYER,
    CUDNN_GRU: CUDNN_GRU_PARAMS_PER_LAYER,
    CUDNN_RNN_TANH: CUDNN_RNN_TANH_PARAMS_PER_LAYER,
    CUDNN_RNN_RELU: CUDNN_RNN_RELU_PARAMS_PER_LAYER,
}
_DIRECTIONS = {CUDNN_RNN_UNIDIRECTION: 1, CUDNN_RNN_BIDIRECTION: 2}
_INPUT_MODES = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)


def check_rnn_mode(rnn_mode: str) -> None:
    """Raises a ValueError unless it is one of the kinds of networks."""
    if rnn_mode not in _PARAMS_PER_LAYER:
        raise ValueError(
            f"Invalid rnn_mode: {rnn_mode}, expect one of ({', '.join(_PARAMS_PER_LAYER)})"
        )


def check_direction(direction: str) -> None:
    """Raises a ValueError unless it is 'unidirectional' or 'bidirectional'."""
    if direction not in _DIRECTIONS:
        raise ValueError(
            f"Invalid direction: {direction}, expecting {CUDNN_RNN_UNIDIRECTION} or "
            f"{CUDNN_RNN_BIDIRECTION}"
        )


def check_input_mode(input_mode: str) -> None:
    """Raises a ValueError unless it is 'linear_input', 'skip_input' or 'auto_select'."""
    if input_mode not in _INPUT_MODES:
        raise ValueError(
            f"Invalid input_mode: {input_mode}, expect one of ({', '.join(_INPUT_MODES)})"
        )


def check_linear_input(input_mode: str, input_size: int, num_units: int) -> None:
    """Raises a ValueError if the first layer has no matrices for its input.

    Args:
      input_mode: the input mode.
      input_size: the inputs' size.
      num_units: the states' size.
    """
    check_input_mode(input_mode)
    if input_mode == CUDNN_INPUT_SKIP_MODE:
        raise ValueError(
            "Invalid input_mode: skip_input is not supported, because its parameters have a form "
            "that only cuDNN knows. Use 'linear_input'."
        )
    if input_mode == CUDNN_INPUT_AUTO_MODE and input_size == num_units:
        raise ValueError(
            "input_mode='auto_select' with inputs of the size num_units means 'skip_input', which "
            f"is not supported: {input_size}. Use 'linear_input'."
        )


def params_per_layer(rnn_mode: str) -> int:
    """Returns the number of matrices, and of biases, of one layer in one direction."""
    check_rnn_mode(rnn_mode)
    return _PARAMS_PER_LAYER[rnn_mode]


def directions(direction: str) -> int:
    """Returns the number of directions: 1 or 2."""
    check_direction(direction)
    return _DIRECTIONS[direction]
