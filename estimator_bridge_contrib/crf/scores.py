"""Scores of tag sequences in a linear-chain conditional random field.

The score of tags y for one sequence is the sum of its potentials ``inputs[t, y[t]]`` and of
``transition_params[y[t], y[t + 1]]``; its likelihood is exp(score) divided by the sum of exp(score)
over all sequences of tags (Lafferty, McCallum, Pereira 2001). The logarithm of that sum is found by
the forward recursion.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "crf_binary_score",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
]

_v1 = tf.compat.v1


def crf_log_likelihood(
    inputs: tf.Tensor,
    tag_indices: tf.Tensor,
    sequence_lengths: tf.Tensor,
    transition_params: Any = None,
) -> tuple[tf.Tensor, Any]:
    """Returns the log-likelihood of the tags of each sequence.

    Args:
      inputs: [batch, length, tags], potentials.
      tag_indices: [batch, length], the tags. Those after a sequence's end are ignored.
      sequence_lengths: [batch], the sequence lengths.
      transition_params: [tags, tags]; by default created as the variable ``transitions``.

    Returns:
      [batch], the log-likelihoods; and the transitions.
    """
    if transition_params is None:
        tags = inputs.shape.as_list()[2]
        transition_params = _v1.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_sequence_score(
    inputs: tf.Tensor,
    tag_indices: tf.Tensor,
    sequence_lengths: tf.Tensor,
    transition_params: Any,
) -> tf.Tensor:
    """Returns the score of the tags of each sequence; arguments as in ``crf_log_likelihood``.

    Returns:
      [batch]; 0 for an empty sequence.
    """
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_unary_score(
    tag_indices: tf.Tensor, sequence_lengths: tf.Tensor, inputs: tf.Tensor
) -> tf.Tensor:
    """Returns the potentials' part of the score.

    Args:
      tag_indices: [batch, length].
      sequence_lengths: [batch].
      inputs: [batch, length, tags].

    Returns:
      [batch].
    """
    counts = tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1])
    tags = _valid_tags(tag_indices, counts)
    scores = tf.gather(inputs, tags, axis=2, batch_dims=2)
    return tf.reduce_sum(tf.where(counts, scores, tf.zeros_like(scores)), axis=1)


def crf_binary_score(
    tag_indices: tf.Tensor, sequence_lengths: tf.Tensor, transition_params: Any
) -> tf.Tensor:
    """Returns the transitions' part of the score.

    Args:
      tag_indices: [batch, length].
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch].
    """
    counts = tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1])
    tags = _valid_tags(tag_indices, counts)
    pairs = tf.stack([tags[:, :-1], tags[:, 1:]], axis=2)
    scores = tf.gather_nd(tf.convert_to_tensor(transition_params), pairs)
    return tf.reduce_sum(tf.where(counts[:, 1:], scores, tf.zeros_like(scores)), axis=1)


def crf_multitag_sequence_score(
    inputs: tf.Tensor,
    tag_bitmap: tf.Tensor,
    sequence_lengths: tf.Tensor,
    transition_params: Any,
) -> tf.Tensor:
    """Returns the logarithm of the sum of exp(score) over all sequences of allowed tags.

    Args:
      inputs: [batch, length, tags].
      tag_bitmap: [batch, length, tags], whether a tag is allowed there.
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch].
    """
    never = tf.fill(tf.shape(inputs), tf.constant(float("-inf"), inputs.dtype))
    allowed = tf.where(tag_bitmap, inputs, never)
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def crf_log_norm(
    inputs: tf.Tensor, sequence_lengths: tf.Tensor, transition_params: Any
) -> tf.Tensor:
    """Returns the logarithm of the sum of exp(score) over all sequences of tags.

    Args:
      inputs: [batch, length, tags].
      sequence_lengths: [batch].
      transition_params: [tags, tags].

    Returns:
      [batch]; 0 for an empty sequence.
    """
    transitions = tf.expand_dims(transition_params, 0)
    length = inputs.shape.as_list()[1]
    steps = tf.shape(inputs)[1] if length is None else length

    def forward(t: tf.Tensor, alphas: tf.Tensor) -> list[tf.Tensor]:
        sums = tf.reduce_logsumexp(tf.expand_dims(alphas, 2) + transitions, axis=1)
        is_within = tf.expand_dims(tf.cast(t, sequence_lengths.dtype) < sequence_lengths, 1)
        return [t + 1, tf.where(is_within, inputs[:, t] + sums, alphas)]

    _, alphas = tf.while_loop(
        lambda t, alphas: t < steps,
        forward,
        [tf.constant(1), inputs[:, 0]],
        maximum_iterations=None if length is None else length - 1,
    )
    norms = tf.reduce_logsumexp(alphas, axis=1)
    return tf.where(sequence_lengths > 0, norms, tf.zeros_like(norms))


def _valid_tags(tag_indices: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    """Replaces tags after a sequence's end, which may be anything such as -1, by valid ones."""
    tag_indices = tf.convert_to_tensor(tag_indices)
    return tf.where(counts, tag_indices, tf.zeros_like(tag_indices))
