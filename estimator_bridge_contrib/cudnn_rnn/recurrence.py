"""Runs the recurrent networks that cuDNN has, from their canonical parameters."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.cudnn_rnn.modes import CUDNN_GRU, CUDNN_LSTM, CUDNN_RNN_RELU
from estimator_bridge_contrib.cudnn_rnn.opaque_params import Layout
from estimator_bridge_contrib.rnn.base import LSTMStateTuple
from estimator_bridge_contrib.rnn.fused import StepCell

__all__ = ["drop_between_layers", "run_network", "turned"]

v1 = tf.compat.v1


def run_network(
    layout: Layout,
    params: Any,
    inputs: tf.Tensor,
    state: tuple[tf.Tensor, ...],
    lengths: Any,
    dropout: float,
    seed: int | None,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Runs a network over sequences.

    Args:
      layout: the network.
      params: its vector of parameters.
      inputs: [time, batch, size].
      state: the initial outputs, and for an LSTM the cells' states, each
        [layers * directions, batch, size].
      lengths: [batch], the sequences' lengths; None for whole sequences.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of what is dropped.

    Returns:
      The outputs, [time, batch, size * directions], and the final state, structured as state.
    """
    weights, biases = layout.split(params)
    outputs, final = inputs, []
    for layer in range(layout.num_layers):
        if layer:
            outputs = drop_between_layers(outputs, dropout, seed, layer)
        ways = []
        for way in range(layout.num_dirs):
            number = layer * layout.num_dirs + way
            values, cell = _cell(
                layout,
                weights[number * layout.weights_per_cell :][: layout.weights_per_cell],
                biases[number * 2 * layout.gates :][: 2 * layout.gates],
                turned(outputs, lengths) if way else outputs,
            )
            parts = [part[number] for part in state]
            values, last = v1.nn.dynamic_rnn(
                cell,
                values,
                sequence_length=lengths,
                initial_state=LSTMStateTuple(*parts[::-1]) if len(parts) == 2 else parts[0],
                time_major=True,
            )
            ways.append(turned(values, lengths) if way else values)
            final.append((last.h, last.c) if len(parts) == 2 else (last,))
        outputs = tf.concat(ways, 2)
    return outputs, [tf.stack(parts) for parts in zip(*final)]


def drop_between_layers(
    values: tf.Tensor, dropout: float, seed: int | None, layer: int
) -> tf.Tensor:
    """Drops inputs of a layer, with another seed for each layer."""
    if not dropout:
        return values
    return tf.nn.dropout(values, dropout, seed=None if seed is None else seed + layer - 1)


def turned(steps: Any, lengths: Any) -> tf.Tensor:
    """Returns sequences [time, batch, ...] backwards, each within its length."""
    if lengths is None:
        return tf.reverse(steps, [0])
    return tf.reverse_sequence(steps, lengths, seq_axis=0, batch_axis=1)


def _cell(
    layout: Layout, weights: list[tf.Tensor], biases: list[tf.Tensor], inputs: tf.Tensor
) -> tuple[tf.Tensor, StepCell]:
    """Returns the inputs' part of the gates, for all steps at once, and the cell that reads it."""
    gates = layout.gates
    kernel, state_kernel = (
        tf.concat(part, 0) for part in (weights[:gates], weights[gates : 2 * gates])
    )
    bias, state_bias = (tf.concat(part, 0) for part in (biases[:gates], biases[gates:]))
    values = tf.tensordot(inputs, kernel, [[2], [1]]) + bias

    def of_state(state: tf.Tensor) -> tf.Tensor:
        return tf.matmul(state, state_kernel, transpose_b=True) + state_bias

    if layout.rnn_mode == CUDNN_LSTM:
        return values, _lstm_cell(layout, of_state, weights[2 * gates :])

    def gru(step: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        (reset, update, new), others = tf.split(step, 3, 1), tf.split(of_state(state), 3, 1)
        reset, update = tf.sigmoid(reset + others[0]), tf.sigmoid(update + others[1])
        output = (1 - update) * tf.tanh(new + reset * others[2]) + update * state
        return output, output

    def simple(step: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        activation = tf.nn.relu if layout.rnn_mode == CUDNN_RNN_RELU else tf.tanh
        output = activation(step + of_state(state))
        return output, output

    run = gru if layout.rnn_mode == CUDNN_GRU else simple
    return values, StepCell(run, layout.num_units, lstm=False)


def _lstm_cell(layout: Layout, of_state: Any, projection: list[tf.Tensor]) -> StepCell:
    def step(values: tf.Tensor, state: Any) -> Any:
        old, hidden = state
        i, f, new, o = tf.split(values + of_state(hidden), 4, 1)
        memory = tf.sigmoid(i) * tf.tanh(new) + tf.sigmoid(f) * old
        output = tf.sigmoid(o) * tf.tanh(memory)
        for matrix in projection:
            output = tf.matmul(output, matrix, transpose_b=True)
        return output, LSTMStateTuple(memory, output)

    cell = StepCell(step, layout.output_size, lstm=True)
    cell.state_size = LSTMStateTuple(layout.num_units, layout.output_size)
    return cell
