"""Batches examples of one kind, such as sentences of similar lengths, with queues."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["bucket", "bucket_by_sequence_length"]

v1 = tf.compat.v1
_CLOSED = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, Any]:
    """Collects single examples in buckets, and batches each bucket separately.

    Queue runners fill the buckets; start them with ``tf.train.start_queue_runners``.

    Args:
      tensors: an example: a list or dict of tensors, which may be sparse.
      which_bucket: its bucket, an int32 scalar in [0, num_buckets).
      batch_size: the size for all buckets, or a list with one for each.
      num_buckets: the number of buckets.
      num_threads: the number of threads that put examples into buckets.
      capacity: the number of waiting batches, and of examples in a bucket.
      bucket_capacities: the number of examples, for each bucket.
      shapes: the tensors' shapes; by default their static shapes.
      dynamic_pad: whether to pad unknown dimensions, with 0 or "", to the longest in a batch.
      allow_smaller_final_batch: whether the last examples make smaller batches, or are dropped.
      keep_input: a bool scalar, whether to use the example.
      shared_name: has no effect: a session's queues are its own.
      name: the operations' name.

    Returns:
      The bucket of a batch, an int32 scalar, and the batch, structured as ``tensors``.

    Raises:
      ValueError: there are no tensors, a shape is unknown, or a list does not have one entry per
        bucket.
    """
    del shared_name
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size]
    is_one_size = not isinstance(batch_size, (list, tuple))
    if is_one_size:
        sizes *= num_buckets
    elif len(sizes) != num_buckets:
        raise ValueError(
            "If batch_size is a list it must have num_buckets elements; got "
            f"{len(sizes)} sizes and {num_buckets} buckets."
        )
    capacities = list(bucket_capacities or [capacity] * num_buckets)
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets "
            f"({num_buckets}) elements."
        )
    keys = sorted(tensors) if isinstance(tensors, dict) else None
    components = [tensors[key] for key in keys] if keys else list(tensors)
    if not components:
        raise ValueError("Expected at least one tensor in bucket().")
    with v1.name_scope(name, "bucket", components):
        components = [v1.convert_to_tensor_or_sparse_tensor(tensor) for tensor in components]
        kinds = [_batched_kind(each) if _is_sparse(each) else None for each in components]
        components = [
            tf.io.serialize_sparse(each) if _is_sparse(each) else each for each in components
        ]
        component_shapes = [tensor.shape for tensor in components]
        if shapes is not None:
            component_shapes = [
                tf.TensorShape(shape) if kind is None else own
                for shape, kind, own in zip(shapes, kinds, component_shapes)
            ]
        if not dynamic_pad and not all(shape.is_fully_defined() for shape in component_shapes):
            raise ValueError(
                f"All shapes must be fully defined: {component_shapes}. Pass shapes=, or "
                "dynamic_pad=True."
            )
        kind = tf.queue.PaddingFIFOQueue if dynamic_pad else tf.queue.FIFOQueue
        types = [tensor.dtype for tensor in components]
        queues = [
            kind(size, types, component_shapes, name=f"bucket_queue_{number}")
            for number, size in enumerate(capacities)
        ]
        is_fixed = is_one_size and not allow_smaller_final_batch
        static = tf.get_static_value(tf.convert_to_tensor(batch_size)) if is_fixed else None
        batched = [tf.TensorShape([static]).concatenate(shape) for shape in component_shapes]
        top = tf.queue.PaddingFIFOQueue(
            capacity, [tf.int32, *types], [tf.TensorShape([]), *batched], name="top_queue"
        )
        enqueue = _puts(queues, components, tf.cast(which_bucket, tf.int32), keep_input)
        batches = []
        for number, (queue, size) in enumerate(zip(queues, sizes)):
            take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
            batch = tf.nest.flatten(take(size))
            batches.append(top.enqueue([tf.constant(number), *batch]))
        _run(queues[0], batches, [top])
        _run(top, [enqueue] * num_threads, queues)
        which, *outputs = top.dequeue(name="dequeue_top")
        outputs = [
            output if kind is None else v1.deserialize_many_sparse(output, *kind)
            for output, kind in zip(outputs, kinds)
        ]
        if keys:
            return which, dict(zip(keys, outputs))
        return which, outputs[0] if len(outputs) == 1 else outputs


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, Any]:
    """Like ``bucket``, with buckets by an example's length.

    Args:
      input_length: the length, an int32 scalar.
      tensors: an example: a list or dict of tensors.
      batch_size: the size for all buckets, or a list with one for each.
      bucket_boundaries: increasing lengths; each starts a bucket, and one bucket is before them.
      num_threads: see ``bucket``.
      capacity: see ``bucket``.
      bucket_capacities: see ``bucket``.
      shapes: the tensors' shapes, without that of the length.
      dynamic_pad: see ``bucket``.
      allow_smaller_final_batch: see ``bucket``.
      keep_input: see ``bucket``.
      shared_name: see ``bucket``.
      name: see ``bucket``.

    Returns:
      The lengths of a batch, [batch], and the batch, structured as ``tensors``.

    Raises:
      TypeError: the boundaries are not a list of integers.
      ValueError: there are none, or they do not increase; and whatever ``bucket`` raises.
    """
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(
            f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries!r}"
        )
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    if not all(isinstance(boundary, (int, np.integer)) for boundary in bucket_boundaries):
        raise TypeError(f"bucket boundaries must be integers, but saw: {bucket_boundaries!r}")
    for before, after in zip(bucket_boundaries, bucket_boundaries[1:]):
        if before >= after:
            raise ValueError(
                "Buckets must contain sequential increasing lengths, but saw: "
                f"{before} before {after}"
            )
    keys = sorted(tensors) if isinstance(tensors, dict) else None
    components = [tensors[key] for key in keys] if keys else list(tensors)
    with v1.name_scope(name, "bucket_by_sequence_length", [input_length, *components]):
        length = tf.cast(input_length, tf.int32)
        begun = tf.cast(tf.constant(bucket_boundaries, tf.int32) <= length, tf.int32)
        _, outputs = bucket(
            [length, *components],
            tf.reduce_sum(begun),
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            None if shapes is None else [tf.TensorShape([]), *shapes],
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
        )
    lengths, *batch = outputs
    if keys and len(keys) == 1:  # the original's dict then has a list
        return lengths, {keys[0]: batch}
    return lengths, dict(zip(keys, batch)) if keys else batch


def _is_sparse(tensor: Any) -> bool:
    return isinstance(tensor, tf.SparseTensor)


def _batched_kind(tensor: tf.SparseTensor) -> tuple[tf.DType, int | None]:
    """Returns the type and the rank of a batch of sparse tensors."""
    rank = tensor.shape.rank
    return tensor.dtype, None if rank is None else rank + 1


def _puts(queues: Sequence[Any], tensors: list, which: tf.Tensor, keep: Any) -> tf.Operation:
    """Puts an example into its bucket, if it is to be kept."""

    def true_after(enqueue: Any) -> tf.Tensor:
        with tf.control_dependencies([enqueue]):
            return tf.constant(True)

    outcomes = []
    for number, queue in enumerate(queues):
        chosen = tf.logical_and(tf.cast(keep, tf.bool), tf.equal(which, number))
        enqueue = functools.partial(lambda queue: true_after(queue.enqueue(tensors)), queue)
        outcomes.append(v1.cond(chosen, enqueue, lambda: tf.constant(False)))
    return tf.group(*outcomes)


def _run(queue: Any, enqueues: Sequence[tf.Operation], closes: Sequence[Any]) -> None:
    """Adds a queue runner that closes the following queues when it ends."""
    v1.train.add_queue_runner(
        v1.train.QueueRunner(
            queue,
            list(enqueues),
            close_op=tf.group(*[each.close() for each in closes]),
            cancel_op=tf.group(*[each.close(cancel_pending_enqueues=True) for each in closes]),
            queue_closed_exception_types=_CLOSED,
        )
    )
