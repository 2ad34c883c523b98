"""Scores a beam search, and chooses the beams of the next step."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.seq2seq.attention_wrapper import AttentionWrapperState
from estimator_bridge_contrib.seq2seq.decoder import size_of

__all__ = [
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "attention_probabilities",
    "search_step",
]

BeamSearchDecoderState = namedtuple(
    "BeamSearchDecoderState",
    ["cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"],
)
BeamSearchDecoderOutput = namedtuple(
    "BeamSearchDecoderOutput", ["scores", "predicted_ids", "parent_ids"]
)


def search_step(
    logits: Any,
    next_cell_state: Any,
    beam_state: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[Any, Any]:
    """Chooses the best continuations of the beams.

    Args:
      logits: [batch, beams, vocabulary].
      next_cell_state: the cell's state after the step; tensors [batch, beams, ...].
      beam_state: the BeamSearchDecoderState before the step.
      beam_width: the number of beams.
      end_token: the token that ends a sequence.
      length_penalty_weight: as for ``BeamSearchDecoder``.
      coverage_penalty_weight: as for ``BeamSearchDecoder``.

    Returns:
      A BeamSearchDecoderOutput of tensors [batch, beams], and the next state.
    """
    finished = beam_state.finished
    vocabulary = size_of(logits, -1)
    one_hot_end = tf.one_hot(end_token, vocabulary, on_value=True, off_value=False, dtype=tf.bool)
    probabilities = tf.nn.log_softmax(logits)
    # A finished sequence continues only with the end token, at no cost.
    only_end = tf.where(one_hot_end, tf.zeros([], logits.dtype), logits.dtype.min)
    probabilities = tf.where(finished[:, :, None], only_end, probabilities)
    total = beam_state.log_probs[:, :, None] + probabilities
    longer = tf.cast(tf.logical_not(finished[:, :, None] | one_hot_end), tf.int64)
    lengths = beam_state.lengths[:, :, None] + longer
    attention: Any = attention_probabilities(next_cell_state, coverage_penalty_weight)
    if attention is not None:
        attention *= tf.cast(tf.logical_not(finished), attention.dtype)[:, :, None]
        attention += beam_state.accumulated_attention_probs
    scores = total / tf.cast(_length_penalty(lengths, length_penalty_weight), total.dtype)
    if attention is not None:
        coverage = _coverage(attention) * tf.cast(finished, attention.dtype)
        scores += (coverage * coverage_penalty_weight)[:, :, None]

    flat = [tf.shape(logits)[0], -1]
    best, indices = tf.math.top_k(tf.reshape(scores, flat), k=beam_width)
    static = [beam_state.log_probs.shape.as_list()[0], beam_width]
    best.set_shape(static)
    indices.set_shape(static)
    words = tf.cast(indices % vocabulary, tf.int32)
    parents = tf.cast(indices // vocabulary, tf.int32)

    def of_parents(value: Any) -> Any:
        if isinstance(value, tf.TensorArray) or value.shape.rank < 2:
            return value
        chosen = tf.gather(value, parents, batch_dims=1)
        chosen.set_shape(value.shape)
        return chosen

    had_ended = of_parents(finished)
    state = BeamSearchDecoderState(
        cell_state=tf.nest.map_structure(of_parents, next_cell_state),
        log_probs=tf.gather(tf.reshape(total, flat), indices, batch_dims=1),
        finished=had_ended | tf.equal(words, end_token),
        lengths=of_parents(beam_state.lengths) + tf.cast(tf.logical_not(had_ended), tf.int64),
        accumulated_attention_probs=() if attention is None else of_parents(attention),
    )
    return BeamSearchDecoderOutput(best, words, parents), state


def attention_probabilities(cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """Returns the mean weights of all attention in a cell's state; None without a penalty.

    Raises:
      ValueError: there is a penalty, but no attention.
    """
    if isinstance(coverage_penalty_weight, (int, float)) and coverage_penalty_weight == 0:
        return None
    states = [cell_state]
    if isinstance(cell_state, tuple) and not isinstance(cell_state, AttentionWrapperState):
        states = list(cell_state)
    weights = []
    for state in states:
        if isinstance(state, AttentionWrapperState):
            own = state.alignments
            weights.append(tf.reduce_mean(tf.stack(own, -1), -1) if isinstance(own, tuple) else own)
    if not weights:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return weights[0] if len(weights) == 1 else tf.reduce_mean(tf.stack(weights, -1), -1)


def _length_penalty(lengths: Any, weight: Any) -> Any:
    """Returns ``((5 + length) / 6) ** weight`` (https://arxiv.org/abs/1609.08144, 14)."""
    weight = tf.convert_to_tensor(weight, name="penalty_factor")
    weight.shape.assert_has_rank(0)
    return ((5.0 + tf.cast(lengths, tf.float32)) / 6.0) ** tf.cast(weight, tf.float32)


def _coverage(attention: Any) -> tf.Tensor:
    """Returns the sum of ``log(min(attention, 1))`` over the memory; ignores entries never seen."""
    positive = tf.where(tf.equal(attention, 0.0), tf.ones_like(attention), attention)
    return tf.reduce_sum(tf.math.log(tf.minimum(positive, 1.0)), 2)
