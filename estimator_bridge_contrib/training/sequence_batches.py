"""batch_sequences_with_states: dense and sparse sequences as batches of parts, by threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.training.sequence_checks import check_divisible
from estimator_bridge_contrib.training.sequence_states import (
    NextQueuedSequenceBatch,
    SequenceQueueingStateSaver,
)

__all__ = ["batch_sequences_with_states"]

_v1 = tf.compat.v1
_CLOSED = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
_SPARSE_SIZE = 3  # strings of a serialized sparse tensor
_CONTEXT = "_context_in_seq_"  # before the name of a sparse context that is kept as a sequence


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: Mapping[str, Any],
    input_context: Mapping[str, Any],
    input_length: Any,
    initial_states: Mapping[str, Any],
    num_unroll: int,
    batch_size: int,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Makes batches of parts of sequences; see `SequenceQueueingStateSaver`.

    Queue runners cut the sequences; start them with ``tf.train.start_queue_runners``.

    Args:
      input_key: the sequence's key, a string scalar.
      input_sequences: tensors and sparse tensors [length, ...] by name.
      input_context: tensors and sparse tensors by name that belong to all parts.
      input_length: the sequence's length, an int32 scalar; None for that of the tensors, with pad.
      initial_states: the states of the first part by name.
      num_unroll: the length of a part.
      batch_size: the number of parts of a batch.
      num_threads: the number of threads.
      capacity: the number of sequences that may wait.
      allow_small_batch: whether the last batches may be smaller.
      pad: whether to fill sequences with 0 or "" to a multiple of num_unroll.
      make_keys_unique: whether to append a random number to the key.
      make_keys_unique_seed: its seed.
      name: the operations' name.

    Returns:
      The next batch; its sparse tensors have the shape [batch, num_unroll, ...].

    Raises:
      TypeError: an argument has a wrong type.
      ValueError: see `SequenceQueueingStateSaver`.
    """
    with _v1.name_scope(name, "batch_sequences_with_states"):
        sequences = {key: _tensor(value) for key, value in sorted(input_sequences.items())}
        contexts = {key: _tensor(value) for key, value in input_context.items()}
        if pad:
            length, sequences = _padded(sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            for key, value in sequences.items():
                sequences[key] = _with_checked_length(value, num_unroll)
        lengths = [_length(value) for value in sequences.values()]
        steps = lengths[0] if lengths else tf.constant(num_unroll)
        for key in [key for key, value in contexts.items() if _is_sparse(value)]:
            sequences[_CONTEXT + key] = _at_each_part(contexts.pop(key), steps, num_unroll)
        ranks = {key: value.shape.rank for key, value in sequences.items() if _is_sparse(value)}
        types = {key: sequences[key].dtype for key in ranks}
        dense = {
            key: _serialized(value) if key in ranks else value for key, value in sequences.items()
        }
        if make_keys_unique:
            number = _v1.random_uniform([], 0, 100000000, tf.int32, make_keys_unique_seed)
            input_key = tf.strings.join([input_key, tf.strings.as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length,
            input_key,
            dense,
            contexts,
            initial_states,
            capacity,
            allow_small_batch,
        )
        ready = tf.cast(saver.barrier.ready_size(), tf.float32)
        _v1.summary.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        _v1.train.add_queue_runner(
            _v1.train.QueueRunner(
                saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=_CLOSED
            )
        )
        batch = saver.next_batch
        for key, rank in ranks.items():
            parts = _deserialized(batch.sequences[key], types[key], rank, num_unroll)
            if key.startswith(_CONTEXT):
                del batch.sequences[key]
                batch.context[key[len(_CONTEXT) :]] = _first_step(parts)
            else:
                batch.sequences[key] = parts
        return batch


def _is_sparse(value: Any) -> bool:
    return isinstance(value, tf.SparseTensor)


def _tensor(value: Any) -> Any:
    return _v1.convert_to_tensor_or_sparse_tensor(value)


def _length(value: Any) -> tf.Tensor:
    return tf.cast(value.dense_shape[0], tf.int32) if _is_sparse(value) else tf.shape(value)[0]


def _with_checked_length(value: Any, num_unroll: int) -> Any:
    with tf.control_dependencies([check_divisible(_length(value), num_unroll)]):
        if not _is_sparse(value):
            return tf.identity(value)
        return tf.SparseTensor(
            tf.identity(value.indices), tf.identity(value.values), tf.identity(value.dense_shape)
        )


def _padded(sequences: Mapping[str, Any], num_unroll: int) -> tuple[tf.Tensor, dict[str, Any]]:
    """Returns the length, and the sequences with a multiple of num_unroll steps."""
    if not sequences:
        return tf.constant(0), {}
    dense = [_length(value) for value in sequences.values() if not _is_sparse(value)]
    lengths = dense or [_length(value) for value in sequences.values()]
    text = "All sequence lengths must match, but received lengths: "
    checks = [_v1.Assert(tf.equal(each, dense[0]), [text, *dense]) for each in dense]
    with tf.control_dependencies(checks):
        length = tf.reduce_max(tf.stack(lengths))
    missing = -length % num_unroll
    padded_sequences = {}
    for key, value in sequences.items():
        if _is_sparse(value):
            steps = tf.cast([length + missing], tf.int64)
            shape = tf.concat([steps, value.dense_shape[1:]], 0)
            padded_sequences[key] = tf.SparseTensor(value.indices, value.values, shape)
        else:
            rest = tf.concat([[missing], tf.shape(value)[1:]], 0)
            fill = tf.constant("" if value.dtype == tf.string else 0, value.dtype)
            padded_sequences[key] = tf.concat([value, tf.fill(rest, fill)], 0)
    return length, padded_sequences


def _at_each_part(context: tf.SparseTensor, steps: tf.Tensor, unroll: int) -> tf.SparseTensor:
    """Returns a sequence that has the context at the first step of each part."""
    parts = steps // unroll
    first = tf.cast(tf.range(parts) * unroll, tf.int64)
    entries = tf.size(context.values)
    at = tf.concat(
        [
            tf.expand_dims(tf.repeat(first, entries), 1),
            tf.tile(context.indices, tf.stack([parts, 1])),
        ],
        1,
    )
    shape = tf.concat([[tf.cast(steps, tf.int64)], context.dense_shape], 0)
    return tf.SparseTensor(at, tf.tile(context.values, [parts]), shape)


def _serialized(sequence: tf.SparseTensor) -> tf.Tensor:
    """Returns the steps as strings, [length, 3]."""
    return tf.ensure_shape(_v1.serialize_many_sparse(sequence), [None, _SPARSE_SIZE])


def _deserialized(parts: tf.Tensor, dtype: tf.DType, rank: int, unroll: int) -> tf.SparseTensor:
    """Returns strings [batch, num_unroll, 3] as a sparse tensor [batch, num_unroll, ...]."""
    rows = _v1.deserialize_many_sparse(tf.reshape(parts, [-1, _SPARSE_SIZE]), dtype, rank)
    step = rows.indices[:, :1]
    indices = tf.concat([step // unroll, step % unroll, rows.indices[:, 1:]], 1)
    size = tf.cast(tf.stack([tf.shape(parts)[0], unroll]), tf.int64)
    shape = tf.concat([size, rows.dense_shape[1:]], 0)
    return tf.SparseTensor(indices, rows.values, shape)


def _first_step(parts: tf.SparseTensor) -> tf.SparseTensor:
    indices = tf.concat([parts.indices[:, :1], parts.indices[:, 2:]], 1)
    shape = tf.concat([parts.dense_shape[:1], parts.dense_shape[2:]], 0)
    return tf.SparseTensor(indices, parts.values, shape)
