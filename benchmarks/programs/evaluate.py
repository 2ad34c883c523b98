"""Whole calls of evaluate() on examples in memory."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable

import numpy as np

from benchmarks.estimators import estimators, tf
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from benchmarks.restore_time import RestoreTime

__all__ = ["Input", "answer", "serve"]

_LOOP = 100  # steps between two returns of tf_keras to Python


def serve(way: str, orders: Orders, examples: int, batch: int, calls: int = 1) -> None:
    """Executes orders, after one training step.

    Args:
      way: 'original' or 'here', 'keras', 'hand'.
      orders: each is a number of calls.
      examples: the number of examples of a call.
      batch: the examples of a batch.
      calls: the calls of an order.
    """
    inputs = Input(MLP(), examples, batch)
    call = {"hand": _by_hand, "keras": _by_keras}.get(way, _by_estimator)(inputs)
    answer(orders, call, examples, calls)


def answer(orders: Orders, call: Callable[[], int], examples: int, calls: int) -> None:
    """Executes orders by calls, each of which returns the number of examples that it saw."""
    restore_time = RestoreTime()
    for _ in orders:
        start, restore_time.seconds = time.perf_counter(), 0.0
        example_count = sum(call() for _ in range(calls))
        seconds = time.perf_counter() - start
        assert example_count == calls * examples, example_count
        figures = {"examples/s": example_count / seconds}
        if calls > 1:
            overhead_ms = 1000 * (seconds - restore_time.seconds) / calls
            figures["a call beside reading the checkpoint, ms"] = overhead_ms
        orders.tell(**figures)


@dataclasses.dataclass(frozen=True)
class Input:
    """Examples in memory, in batches.

    Attributes:
      model: makes the examples.
      examples: their number.
      batch: the examples of a batch.
    """

    model: MLP
    examples: int
    batch: int

    @functools.cached_property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The features and labels."""
        return self.model.examples(self.examples)

    def dataset(self) -> tf.data.Dataset:
        """Returns every example once."""
        return tf.data.Dataset.from_tensor_slices(self.arrays).batch(self.batch).prefetch(4)


def _by_estimator(inputs):
    model = inputs.model
    config = estimators.RunConfig(tf_random_seed=1)
    estimator = estimators.Estimator(model.spec(estimators), config=config)
    estimator.train(model.dataset, steps=1)
    return lambda: estimator.evaluate(inputs.dataset) and inputs.examples


def _by_hand(inputs):
    model, dataset = inputs.model, inputs.dataset()
    weights = model.start()

    @tf.function
    def evaluate(iterator):
        total, right, example_count = tf.constant(0.0), tf.constant(0.0), tf.constant(0, tf.int32)
        for features, labels in iterator:
            logits = model.logits(features, weights)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            total += tf.reduce_sum(losses)
            right += tf.reduce_sum(tf.cast(tf.equal(labels, tf.argmax(logits, 1)), tf.float32))
            example_count += tf.size(labels)
        return total, right, example_count

    return lambda: int(evaluate(iter(dataset))[2])


def _by_keras(inputs):
    import tf_keras

    network = inputs.model.keras()
    loss = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(loss=loss, metrics=["accuracy"], steps_per_execution=_LOOP)
    dataset = inputs.dataset()
    return lambda: network.evaluate(dataset, verbose=0) and inputs.examples
