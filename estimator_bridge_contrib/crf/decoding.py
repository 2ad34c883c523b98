"""Finds the best tags of a sequence by Viterbi's algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["crf_decode", "viterbi_decode"]


def crf_decode(
    potentials: tf.Tensor, transition_params: Any, sequence_length: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Finds the tags of the highest score.

    Args:
      potentials: [batch, length, tags].
      transition_params: [tags, tags].
      sequence_length: [batch].

    Returns:
      int32 [batch, length], the tags, 0 after a sequence's end; and [batch], their scores.
    """
    sizes = potentials.shape.as_list()
    length = tf.shape(potentials)[1] if sizes[1] is None else sizes[1]
    transitions = tf.expand_dims(transition_params, 0)
    sequence_length = tf.cast(sequence_length, tf.int32)
    most = None if sizes[1] is None else sizes[1] - 1
    # Row t holds, for each tag at t, the previous tag of the best path to it. After the end it is
    # the same tag, so that the last tag is carried back to the last position.
    stay = tf.broadcast_to(tf.range(tf.shape(potentials)[2]), tf.shape(potentials[:, 0]))
    origins = tf.TensorArray(tf.int32, length, element_shape=stay.shape).write(0, stay)

    def forward(t: tf.Tensor, scores: tf.Tensor, origins: tf.TensorArray) -> list:
        ways = tf.expand_dims(scores, 2) + transitions
        is_within = tf.expand_dims(t < sequence_length, 1)
        best = tf.argmax(ways, axis=1, output_type=tf.int32)
        origins = origins.write(t, tf.where(is_within, best, stay))
        further = potentials[:, t] + tf.reduce_max(ways, axis=1)
        return [t + 1, tf.where(is_within, further, scores), origins]

    _, scores, origins = tf.while_loop(
        lambda t, scores, origins: t < length,
        forward,
        [tf.constant(1), potentials[:, 0], origins],
        maximum_iterations=most,
    )

    last = tf.argmax(scores, axis=1, output_type=tf.int32)
    tags = tf.TensorArray(tf.int32, length, element_shape=last.shape)

    def backward(t: tf.Tensor, tag: tf.Tensor, tags: tf.TensorArray) -> list:
        tags = tags.write(t, tag)
        return [t - 1, tf.gather(origins.read(t), tag, axis=1, batch_dims=1), tags]

    _, _, tags = tf.while_loop(
        lambda t, tag, tags: t >= 0,
        backward,
        [tf.convert_to_tensor(length) - 1, last, tags],
        maximum_iterations=sizes[1],
    )
    decoded = tf.transpose(tags.stack())
    counts = tf.sequence_mask(tf.maximum(sequence_length, 1), length)
    return tf.where(counts, decoded, tf.zeros_like(decoded)), tf.reduce_max(scores, axis=1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], float]:
    """Finds the tags of the highest score, of one sequence in NumPy.

    Args:
      score: [length, tags], potentials.
      transition_params: [tags, tags].

    Returns:
      The tags, and their score.
    """
    score, transitions = np.asarray(score), np.asarray(transition_params)
    scores, origins = score[0], []
    for potentials in score[1:]:
        ways = scores[:, np.newaxis] + transitions
        origins.append(np.argmax(ways, axis=0))
        scores = potentials + np.max(ways, axis=0)
    tags = [int(np.argmax(scores))]
    for origin in reversed(origins):
        tags.append(int(origin[tags[-1]]))
    return tags[::-1], np.max(scores)
