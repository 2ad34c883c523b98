"""The whole call of evaluate() on 100,000 examples; an order is one call."""

from __future__ import annotations

import functools
import time

from benchmarks.estimators import estimators, tf
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders

__all__ = ["EXAMPLES", "serve"]

EXAMPLES, _BATCH, _CALL = 100_000, 100, 100


def serve(way: str, orders: Orders) -> None:
    """Executes orders, after one training step."""
    call = {"hand": _by_hand, "keras": _by_keras}.get(way, _by_estimator)(MLP())
    for _ in orders:
        start = time.perf_counter()
        seen = call()
        seconds = time.perf_counter() - start
        assert seen == EXAMPLES or seen is None, seen
        orders.tell(**{"examples/s": EXAMPLES / seconds})


def batches(model: MLP) -> tf.data.Dataset:
    """Returns every example once."""
    return tf.data.Dataset.from_tensor_slices(_examples(model)).batch(_BATCH).prefetch(4)


@functools.cache
def _examples(model: MLP):
    return model.examples(EXAMPLES)


def _by_estimator(model):
    config = estimators.RunConfig(tf_random_seed=1)
    estimator = estimators.Estimator(model.spec(estimators), config=config)
    estimator.train(model.dataset, steps=1)
    return lambda: estimator.evaluate(lambda: batches(model)) and None


def _by_hand(model):
    weights, dataset = model.start(), batches(model)

    @tf.function
    def evaluate(iterator):
        total, right, seen = tf.constant(0.0), tf.constant(0.0), tf.constant(0, tf.int32)
        for features, labels in iterator:
            logits = model.logits(features, weights)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            total += tf.reduce_sum(losses)
            right += tf.reduce_sum(tf.cast(tf.equal(labels, tf.argmax(logits, 1)), tf.float32))
            seen += tf.size(labels)
        return total, right, seen

    return lambda: int(evaluate(iter(dataset))[2])


def _by_keras(model):
    import tf_keras

    network = model.keras()
    loss = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(loss=loss, metrics=["accuracy"], steps_per_execution=_CALL)
    dataset = batches(model)
    return lambda: network.evaluate(dataset, verbose=0) and None
