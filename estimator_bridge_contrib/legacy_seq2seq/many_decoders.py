"""A model of one encoder and several decoders, each for a task (Luong et al. 2015)."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.legacy_seq2seq.decoders import embedding_rnn_decoder
from estimator_bridge_contrib.legacy_seq2seq.models import decoded
from estimator_bridge_contrib.rnn.base import RNNCell
from estimator_bridge_contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper

__all__ = ["one2many_rnn_seq2seq"]

_v1 = tf.compat.v1


def one2many_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs_dict: dict[str, list[Any]],
    enc_cell: Any,
    dec_cells_dict: dict[str, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[str, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Encodes symbols once, and decodes them once for each task.

    Args:
      encoder_inputs: by step, symbols [batch].
      decoder_inputs_dict: by task and step, symbols [batch].
      enc_cell: the encoder's cell.
      dec_cells_dict: by task, its decoder's cell.
      num_encoder_symbols: the number of the encoder's symbols.
      num_decoder_symbols_dict: by task, the number of its symbols.
      embedding_size: the size of a row of the tables.
      feed_previous: whether the most likely symbol of a step is the next one's input: a bool, or a
        scalar tensor.
      dtype: the variables' type; by default the scope's.
      scope: the variables' scope; by default "one2many_rnn_seq2seq".

    Returns:
      By task, the outputs by step: logits of symbols; and by task, the last state.

    Raises:
      TypeError: a cell is none.
      ValueError: the tasks of the cells are not those of the inputs.
    """
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError(
            "keys of dec_cells_dict != keys of decoder_inputs_dict: "
            f"{sorted(dec_cells_dict)} and {sorted(decoder_inputs_dict)}. Give a cell for each "
            "decoder."
        )
    cells = {"enc_cell": enc_cell}
    cells.update({f"dec_cells_dict[{name!r}]": cell for name, cell in dec_cells_dict.items()})
    for name, cell in cells.items():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"{name} is not an RNNCell: {type(cell)}")
    outputs, states = {}, {}
    with _v1.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as used:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = _v1.nn.static_rnn(encoder, encoder_inputs, dtype=used.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with _v1.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                decode = functools.partial(_decode, inputs, state, cell, symbols, embedding_size)
                outputs[name], states[name] = decoded(decode, feed_previous, len(inputs), state)
    return outputs, states


def _decode(
    inputs: list[Any],
    state: Any,
    cell: Any,
    symbols: int,
    size: int,
    feeds_back: bool,
    trains: bool,
) -> tuple[list[Any], Any]:
    """Decodes one task. Gradients pass through fed back symbols even where a tensor decides."""
    del trains
    return embedding_rnn_decoder(inputs, state, cell, symbols, size, feed_previous=feeds_back)
