"""Beam arrays: tiles a batch, and traces sequences back along their parents."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["gather_tree", "gather_tree_from_array", "tile_batch"]

v1 = tf.compat.v1


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Repeats each example, for beams: [a, b] becomes [a, a, b, b] with a multiplier of 2.

    Args:
      t: a tensor [batch, ...], or a structure of them.
      multiplier: the number of copies; the beam width.
      name: the operations' name.

    Returns:
      The same structure of tensors [batch * multiplier, ...].

    Raises:
      ValueError: a tensor's rank is unknown, or it is a scalar.
    """
    with v1.name_scope(name, "tile_batch", [*tf.nest.flatten(t), multiplier]):
        return tf.nest.map_structure(lambda each: _tiled(each, multiplier), t)


def _tiled(t: Any, multiplier: int) -> tf.Tensor:
    t = tf.convert_to_tensor(t, name="t")
    if not t.shape.rank:
        raise ValueError(f"t must have statically known rank, of at least 1: got {t.shape}")
    tiled = tf.repeat(t, multiplier, axis=0)
    size = t.shape.as_list()[0]
    is_known = isinstance(multiplier, int) and size is not None
    tiled.set_shape([size * multiplier if is_known else None, *t.shape[1:]])
    return tiled


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> tf.Tensor:
    """Traces the sequences of a beam search from their ends to their starts.

    Args:
      step_ids: [time, batch, beams], the token that each beam chose in a step.
      parent_ids: [time, batch, beams], the beam of the previous step that it continues.
      max_sequence_lengths: [batch], the length of the longest beam.
      end_token: fills the positions after the end of a sequence.
      name: the operations' name.

    Returns:
      [time, batch, beams]: the tokens of each sequence that is in a beam at the end.
    """
    with v1.name_scope(name, "GatherTree", [step_ids, parent_ids]):
        step_ids = tf.convert_to_tensor(step_ids)
        parents = tf.convert_to_tensor(parent_ids)
        lengths = tf.convert_to_tensor(max_sequence_lengths)[:, None]
        shape = tf.shape(step_ids)
        ends = tf.fill(shape[1:], tf.cast(end_token, step_ids.dtype))
        last = tf.minimum(lengths, shape[0])
        own = tf.broadcast_to(tf.range(shape[2]), shape[1:])

        def step(after: Any, now: Any) -> Any:
            """Returns the beams to read at the previous time, from those at this time."""
            time, ids, parents = now
            beam, _ = after
            within = tf.broadcast_to(time < last, shape[1:])
            token = tf.where(within, tf.gather(ids, beam, batch_dims=1), ends)
            before = tf.where(within, tf.gather(parents, beam, batch_dims=1), own)
            # The values of a loop must keep their shapes.
            return tf.ensure_shape(before, own.shape), tf.ensure_shape(token, ends.shape)

        times = tf.range(shape[0])
        _, tokens = tf.scan(step, (times, step_ids, parents), (own, ends), reverse=True)
        tokens = tf.ensure_shape(tokens, step_ids.shape)
        ended = tf.cumsum(tf.cast(tf.equal(tokens, ends), tf.int32), axis=0, exclusive=True) > 0
        return tf.where(ended, ends, tokens)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> tf.Tensor:
    """Orders an array of values of each step, such as attention, along the parents.

    As in the original, a step's value is that of the sequence's position after the step, even if
    the cell wrote it before the beams changed their positions.

    Args:
      t: [time, batch * beams, ...] or [time, batch, beams, ...].
      parent_ids: [time, batch, beams].
      sequence_length: [batch, beams].

    Returns:
      A tensor of the shape of t: for each time and beam the values of that beam's sequence.
    """
    t = tf.convert_to_tensor(t)
    shape = tf.shape(parent_ids)
    beams = tf.broadcast_to(tf.range(shape[2]), shape)
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    origin = gather_tree(beams, parent_ids, longest, shape[2] + 1)
    within = tf.transpose(tf.sequence_mask(sequence_length, shape[0]), [2, 0, 1])
    origin = tf.where(within, origin, beams)
    values = tf.reshape(t, tf.concat([shape, [-1]], 0))
    return tf.reshape(tf.gather(values, origin, batch_dims=2), tf.shape(t))
