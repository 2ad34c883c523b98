"""predict() on 100,000 examples, one by one; an order is one call."""

from __future__ import annotations

import time

from benchmarks.estimators import estimators, tf
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from benchmarks.programs.evaluate import EXAMPLES, batches

__all__ = ["serve"]


def serve(way: str, orders: Orders) -> None:
    """Executes orders, after one training step."""
    call = {"hand": _by_hand, "keras": _by_keras}.get(way, _by_estimator)(MLP())
    for _ in orders:
        start = time.perf_counter()
        seen = call()
        seconds = time.perf_counter() - start
        assert seen == EXAMPLES, seen
        orders.tell(**{"examples/s": EXAMPLES / seconds})


def _by_estimator(model):
    config = estimators.RunConfig(tf_random_seed=1)
    estimator = estimators.Estimator(model.spec(estimators), config=config)
    estimator.train(model.dataset, steps=1)
    return lambda: sum(1 for _ in estimator.predict(lambda: batches(model)))


def _by_hand(model):
    weights = model.start()

    @tf.function
    def predict(features):
        logits = model.logits(features, weights)
        return {"class": tf.argmax(logits, 1), "scores": tf.nn.softmax(logits)}

    def call():
        count = 0
        for features, _ in batches(model):
            values = {key: value.numpy() for key, value in predict(features).items()}
            for i in range(len(values["class"])):
                example = {key: value[i] for key, value in values.items()}
                count += len(example) // 2
        return count

    return call


def _by_keras(model):
    network = model.keras()
    network.compile(steps_per_execution=100)
    dataset = batches(model).map(lambda features, labels: features)
    return lambda: len(network.predict(dataset, verbose=0))
