"""Batches of examples chosen with queues: with given probabilities, or by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["rejection_sample", "stratified_sample"]

_v1 = tf.compat.v1
_FIRST_COUNT = 10  # initial count of each class


def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[list[tf.Tensor]], tf.Tensor],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Makes batches of examples, each accepted with its own probability.

    Args:
      tensors: the tensors of one example, or of a batch with ``enqueue_many``.
      accept_prob_fn: a function of one example's tensors that returns its probability.
      batch_size: the number of examples per batch.
      queue_threads: the number of threads that draw examples.
      enqueue_many: whether ``tensors`` are batches.
      prebatch_capacity: the capacity of the queue that splits those.
      prebatch_threads: the number of threads that fill that queue.
      runtime_checks: whether to check that probabilities are from 0 to 1.
      name: a scope.

    Returns:
      Tensors [batch_size, ...]. Queue runners fill them.
    """
    with _v1.variable_scope(name, "rejection_sample"):
        example = [tf.convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            example = _one_by_one(example, prebatch_threads, prebatch_capacity)
        probability = accept_prob_fn(example)
        if runtime_checks:
            checks = [
                _v1.assert_less_equal(0.0, probability),
                _v1.assert_less_equal(probability, 1.0),
            ]
            with tf.control_dependencies(checks):
                probability = tf.identity(probability)
        return _accept_examples(example, probability, batch_size, queue_threads)


def stratified_sample(
    tensors: Sequence[Any],
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    """Makes batches in which each class has a given share.

    An example of class i is accepted with a probability proportional to
    ``target_probs[i] / init_probs[i]``; the class with the largest ratio is always accepted.

    Args:
      tensors: the tensors of one example, or of a batch with ``enqueue_many``.
      labels: its class, or the batch's classes: integers.
      target_probs: [classes], the shares in the batches, which sum to 1.
      batch_size: the number of examples per batch.
      init_probs: [classes], the shares in the data; None to count the examples.
      enqueue_many: whether ``tensors`` and ``labels`` are batches.
      queue_capacity: the capacity of the queue of examples.
      threads_per_queue: the number of threads that fill each queue.
      name: a scope.

    Returns:
      Tensors [batch_size, ...], and their classes. Queue runners fill them.

    Raises:
      ValueError: the two lists of probabilities differ in length.
      TypeError: tensors are not a list.
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"tensors must be a list of tensors. Got {tensors!r}; put a single tensor into a list."
        )
    with _v1.name_scope(name, "stratified_sample"):
        batch = [*(tf.convert_to_tensor(t) for t in tensors), tf.convert_to_tensor(labels)]
        if not enqueue_many:
            batch = [tf.expand_dims(tensor, 0) for tensor in batch]
        target = _check_shares(tf.convert_to_tensor(target_probs, tf.float32))
        classes = target.shape.num_elements()
        if init_probs is None:
            initial = _counted_shares(batch[-1], classes)
        else:
            initial = tf.convert_to_tensor(init_probs, tf.float32)
        initial = _check_shares(initial)
        if initial.shape.num_elements() != classes:
            raise ValueError(
                "Probability parameters must have the same length, got init_probs of "
                f"{initial.shape.num_elements()} classes and target_probs of {classes}."
            )
        possible = _v1.assert_equal(
            tf.logical_and(tf.equal(initial, 0.0), target > 0.0),
            False,
            message="All classes with zero initial probability must also have zero target "
            "probability",
        )
        with tf.control_dependencies([possible]):
            ratio = tf.math.divide_no_nan(target, initial)
        *example, label = _one_by_one(batch, threads_per_queue, queue_capacity)
        probability = tf.gather(ratio / tf.reduce_max(ratio), label)
        *examples, classes_of = _accept_examples(
            [*example, label], probability, batch_size, threads_per_queue
        )
        return examples, classes_of


def _one_by_one(batch: list[tf.Tensor], threads: int, capacity: int) -> list[tf.Tensor]:
    singles = _v1.train.batch(
        batch, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True
    )
    return [tf.squeeze(tensor, [0]) for tensor in _as_list(singles)]


def _accept_examples(
    example: list[tf.Tensor], probability: tf.Tensor, batch_size: int, threads: int
) -> list[tf.Tensor]:
    is_taken = tf.random.uniform([]) < probability
    return _as_list(
        _v1.train.maybe_batch(
            example, keep_input=is_taken, batch_size=batch_size, num_threads=threads
        )
    )


def _as_list(batched: Any) -> list[tf.Tensor]:
    """Returns a list; a queue of one component returns a tensor."""
    return list(batched) if isinstance(batched, (list, tuple)) else [batched]


def _check_shares(shares: tf.Tensor) -> tf.Tensor:
    shares.shape.assert_is_fully_defined()
    shares.shape.assert_has_rank(1)
    checks = [
        _v1.assert_non_negative(shares),
        _v1.assert_less(tf.abs(tf.reduce_sum(shares) - 1.0), 1e-6),
    ]
    with tf.control_dependencies(checks):
        return tf.identity(shares)


def _counted_shares(labels: tf.Tensor, classes: int) -> tf.Tensor:
    """Returns the shares of the classes among the labels so far, from nonzero initial counts."""
    counts = _v1.Variable(
        [_FIRST_COUNT] * classes, trainable=False, name="class_count", dtype=tf.int64
    )
    batch_counts = tf.reduce_sum(tf.one_hot(labels, classes, dtype=tf.int64), 0)
    # A copy, because the counts must not change during the division.
    now = _v1.assign_add(counts, batch_counts) + 0
    return tf.cast(now / tf.reduce_sum(now), tf.float32)
