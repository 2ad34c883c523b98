"""A model whose encoder and decoder share their cell and their table of symbols."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.legacy_seq2seq.decoders import check_projection, fed_back
from estimator_bridge_contrib.legacy_seq2seq.models import decoded, tied_rnn_seq2seq
from estimator_bridge_contrib.rnn.wrappers import OutputProjectionWrapper

__all__ = ["embedding_tied_rnn_seq2seq"]

_v1 = tf.compat.v1


def embedding_tied_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes and decodes symbols with one cell, and one table of symbols.

    Args:
      encoder_inputs: by step, symbols [batch].
      decoder_inputs: by step, symbols [batch].
      cell: the cell of both sides.
      num_symbols: the number of symbols.
      embedding_size: the size of a row of the table.
      num_decoder_symbols: the number of symbols that the outputs have logits of, the first ones; by
        default all.
      output_projection: (weights, biases) from the cell's outputs to symbols. By default, outputs
        are logits of symbols.
      feed_previous: whether the most likely symbol of a step is the next one's input: a bool, or a
        scalar tensor.
      dtype: the variables' type; by default the scope's.
      scope: the variables' scope; by default "embedding_tied_rnn_seq2seq".

    Returns:
      The decoder's outputs by step, and its last state.

    Raises:
      ValueError: the shapes of output_projection do not fit num_symbols.
    """
    with _v1.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as used:
        check_projection(output_projection, num_symbols, used.dtype)
        table = _v1.get_variable("embedding", [num_symbols, embedding_size], dtype=used.dtype)
        encoded = [tf.nn.embedding_lookup(table, symbols) for symbols in encoder_inputs]
        decoder_vectors = [tf.nn.embedding_lookup(table, symbols) for symbols in decoder_inputs]
        if output_projection is None:
            outputs = num_symbols if num_decoder_symbols is None else num_decoder_symbols
            cell = OutputProjectionWrapper(cell, outputs)

        def decode(feeds_back: bool, trains: bool) -> tuple[list[Any], Any]:
            loop = fed_back(table, output_projection, trains) if feeds_back else None
            return tied_rnn_seq2seq(encoded, decoder_vectors, cell, loop, used.dtype)

        state = cell.zero_state(tf.shape(encoder_inputs[0])[0], used.dtype)
        return decoded(decode, feed_previous, len(decoder_inputs), state)
