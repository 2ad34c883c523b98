"""A decoder that keeps the best sequences found so far."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import check_cell
from estimator_bridge_contrib.seq2seq.beam_scores import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    attention_probabilities,
    search_step,
)
from estimator_bridge_contrib.seq2seq.beams import gather_tree, gather_tree_from_array
from estimator_bridge_contrib.seq2seq.decoder import Decoder, check_output_layer
from estimator_bridge_contrib.seq2seq.helpers import embedding_function, start_and_end

__all__ = ["BeamSearchDecoder", "FinalBeamSearchDecoderOutput"]

v1 = tf.compat.v1

FinalBeamSearchDecoderOutput = namedtuple(
    "FinalBeamSearchDecoderOutput", ["predicted_ids", "beam_search_decoder_output"]
)


class BeamSearchDecoder(Decoder):
    """Finds probable sequences by beam search.

    The encoder's outputs and states must be tiled with ``tile_batch`` first, and the state of an
    AttentionWrapper made with ``zero_state(batch_size * beam_width, ...)``. Outputs are a
    FinalBeamSearchDecoderOutput: ``predicted_ids``, [batch, time, beams], the best first.

    Args:
      cell: the cell.
      embedding: the table [vocabulary, size], or a function of tokens.
      start_tokens: [batch], the first tokens.
      end_token: the token that ends a sequence.
      initial_state: the cell's initial state, [batch * beam_width, ...].
      beam_width: the number of beams.
      output_layer: a layer for the cell's outputs, such as ``tf.layers.Dense(vocabulary)``.
      length_penalty_weight: 0.0 for none; larger values favor longer sequences.
      coverage_penalty_weight: the penalty of finished sequences for memory entries that were not
        attended to; 0.0 for none.
      reorder_tensor_arrays: whether TensorArrays in the final state, such as the history of
        attention, are ordered like the sequences.

    Raises:
      TypeError: the cell or the output layer has a wrong type.
      ValueError: start_tokens is not a vector, or end_token not a scalar.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ):
        check_cell(cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._reorder = reorder_tensor_arrays
        self._embedding_fn = embedding_function(embedding)
        start, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = tf.size(start)
        self._initial_state = tf.nest.map_structure(self._split, initial_state)
        self._start_inputs = self._embedding_fn(tf.tile(start[:, None], [1, beam_width]))

    @property
    def batch_size(self) -> Any:
        """The number of sequences to find, without beams."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change their positions."""
        return True

    @property
    def output_size(self) -> Any:
        """The shapes of scores, tokens and parents."""
        return BeamSearchDecoderOutput(*[tf.TensorShape([self._beam_width])] * 3)

    @property
    def output_dtype(self) -> Any:
        """The types of scores, tokens and parents."""
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        return BeamSearchDecoderOutput(dtype, tf.int32, tf.int32)

    def initialize(self, name: str | None = None) -> Any:
        """See ``Decoder``. All beams start equal, so only the first is used."""
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        first = tf.one_hot(
            tf.zeros([self._batch_size], tf.int32), self._beam_width, True, False, dtype=tf.bool
        )
        attention = attention_probabilities(self._initial_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_state,
            log_probs=tf.where(first, tf.zeros([], dtype), tf.constant(float("-inf"), dtype)),
            finished=tf.logical_not(first),
            lengths=tf.zeros([self._batch_size, self._beam_width], tf.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return state.finished, self._start_inputs, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """See ``Decoder``."""
        with v1.name_scope(name, "BeamSearchDecoderStep", [time, inputs]):
            outputs, cell_state = self._cell(
                tf.nest.map_structure(self._merge, inputs),
                tf.nest.map_structure(self._merge, state.cell_state),
            )
            outputs = self._split(outputs)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            chosen, next_state = search_step(
                outputs,
                tf.nest.map_structure(self._split, cell_state),
                state,
                self._beam_width,
                self._end_token,
                self._length_penalty_weight,
                self._coverage_penalty_weight,
            )
            next_inputs = v1.cond(
                tf.reduce_all(next_state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(chosen.predicted_ids),
            )
        return chosen, next_state, next_inputs, next_state.finished

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Reads the sequences along the beams' parents."""
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        predicted = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder:

            def in_order(value: Any) -> Any:
                if not isinstance(value, tf.TensorArray):
                    return value
                return gather_tree_from_array(
                    value.stack(), outputs.parent_ids, final_state.lengths
                )

            final_state = final_state._replace(
                cell_state=tf.nest.map_structure(in_order, final_state.cell_state)
            )
        return FinalBeamSearchDecoderOutput(predicted, outputs), final_state

    def _split(self, value: Any) -> Any:
        """Reshapes [batch * beams, ...] to [batch, beams, ...], except scalars and arrays."""
        if isinstance(value, tf.TensorArray) or _rank(value) == 0:
            return value
        static, rows = tf.get_static_value(self._batch_size), value.shape.as_list()[0]
        if None not in (static, rows) and rows != static * self._beam_width:
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  A state or "
                f"output has the shape {value.shape}, not [batch_size * beam_width, ...] with the "
                f"batch size {static} and the beam width {self._beam_width}.  Perhaps you forgot "
                "to create a zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        sizes = [self._batch_size, self._beam_width]
        split = tf.reshape(value, tf.concat([sizes, tf.shape(value)[1:]], 0))
        split.set_shape([static, self._beam_width, *value.shape[1:]])
        return split

    def _merge(self, value: Any) -> Any:
        """Reshapes [batch, beams, ...] to [batch * beams, ...], except scalars and arrays."""
        if isinstance(value, tf.TensorArray) or _rank(value) < 2:
            return value
        static = tf.get_static_value(self._batch_size)
        rows = [self._batch_size * self._beam_width]
        merged = tf.reshape(value, tf.concat([rows, tf.shape(value)[2:]], 0))
        merged.set_shape([None if static is None else static * self._beam_width, *value.shape[2:]])
        return merged


def _rank(value: Any) -> int:
    if value.shape.rank is None:
        raise ValueError(f"Expected tensor ({value}) to have known rank, but ndims == None.")
    return value.shape.rank
