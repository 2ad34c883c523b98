"""Models of an unrolled encoder and an unrolled decoder."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.legacy_seq2seq.decoders import (
    embedding_attention_decoder,
    embedding_rnn_decoder,
    rnn_decoder,
)
from estimator_bridge_contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper

__all__ = [
    "basic_rnn_seq2seq",
    "decoded",
    "embedding_attention_seq2seq",
    "embedding_rnn_seq2seq",
    "tied_rnn_seq2seq",
]

_v1 = tf.compat.v1


def basic_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes a sequence, and decodes from its last state with another cell of the same kind.

    Args:
      encoder_inputs: by step, a tensor [batch, size].
      decoder_inputs: by step, a tensor [batch, size].
      cell: the decoder's cell; the encoder's is a copy.
      dtype: the type of the first state.
      scope: the variables' scope; by default "basic_rnn_seq2seq".

    Returns:
      The decoder's outputs by step, and its last state.
    """
    with _v1.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = _v1.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    loop_function: Callable[[Any, int], Any] | None = None,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes and decodes with one cell.

    Args:
      encoder_inputs: by step, a tensor [batch, size].
      decoder_inputs: by step, a tensor [batch, size].
      cell: the cell.
      loop_function: see ``rnn_decoder``.
      dtype: the type of the first state.
      scope: the variables' scope; by default "tied_rnn_seq2seq".

    Returns:
      The decoder's outputs by step, and its last state.
    """
    with _v1.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = _v1.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        _v1.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope)


def embedding_rnn_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes and decodes symbols, each side with its own cell and table.

    Args:
      encoder_inputs: by step, symbols [batch].
      decoder_inputs: by step, symbols [batch].
      cell: the decoder's cell; the encoder's is a copy.
      num_encoder_symbols: the number of the encoder's symbols.
      num_decoder_symbols: the number of the decoder's symbols.
      embedding_size: the size of a row of the tables.
      output_projection: (weights, biases) from the cell's outputs to symbols. By default, outputs
        are logits of symbols.
      feed_previous: whether the most likely symbol of a step is the next one's input: a bool, or a
        scalar tensor.
      dtype: the variables' type; by default the scope's.
      scope: the variables' scope; by default "embedding_rnn_seq2seq".

    Returns:
      The decoder's outputs by step, and its last state.
    """
    with _v1.variable_scope(scope or "embedding_rnn_seq2seq") as used:
        if dtype is not None:
            used.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = _v1.nn.static_rnn(encoder, encoder_inputs, dtype=dtype or used.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds_back: bool, trains: bool) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds_back,
                update_embedding_for_previous=trains,
            )

        return decoded(decode, feed_previous, len(decoder_inputs), state)


def embedding_attention_seq2seq(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Encodes and decodes symbols; the decoder attends to the encoder's outputs.

    Args:
      encoder_inputs: by step, symbols [batch].
      decoder_inputs: by step, symbols [batch].
      cell: the decoder's cell; the encoder's is a copy.
      num_encoder_symbols: the number of the encoder's symbols.
      num_decoder_symbols: the number of the decoder's symbols.
      embedding_size: the size of a row of the tables.
      num_heads: the number of attention heads.
      output_projection: see ``embedding_rnn_seq2seq``.
      feed_previous: see ``embedding_rnn_seq2seq``.
      dtype: the variables' type; by default the scope's.
      scope: the variables' scope; by default "embedding_attention_seq2seq".
      initial_state_attention: see ``attention_decoder``.

    Returns:
      The decoder's outputs by step, and its last state.
    """
    with _v1.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as used:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, state = _v1.nn.static_rnn(encoder, encoder_inputs, dtype=used.dtype)
        steps = [tf.reshape(output, [-1, 1, cell.output_size]) for output in outputs]
        attended, size = tf.concat(steps, 1), None
        if output_projection is None:
            cell, size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols

        def decode(feeds_back: bool, trains: bool) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                state,
                attended,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=size,
                output_projection=output_projection,
                feed_previous=feeds_back,
                update_embedding_for_previous=trains,
                initial_state_attention=initial_state_attention,
            )

        return decoded(decode, feed_previous, len(decoder_inputs), state)


def decoded(
    decode: Callable[[bool, bool], Any], feed_previous: Any, steps: int, encoded: Any
) -> tuple[list[Any], Any]:
    """Decodes with or without feeding back, which a tensor may decide when it runs.

    Args:
      decode: decodes, given whether to feed back and whether gradients pass through that.
      feed_previous: a bool or a scalar tensor.
      steps: the number of outputs.
      encoded: the encoder's state, which has the structure of the decoder's.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(feeds_back: bool) -> list[Any]:
        # The branch that feeds back is made first, and creates the variables.
        reuse = None if feeds_back else True
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=reuse):
            outputs, state = decode(feeds_back, False)
            return [*outputs, *tf.nest.flatten(state)]

    flat = _v1.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    return flat[:steps], tf.nest.pack_sequence_as(encoded, flat[steps:])
