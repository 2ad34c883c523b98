"""Whole calls of predict() on examples in memory, one by one or in batches."""

from __future__ import annotations

from collections import deque

from benchmarks.estimators import estimators, tf
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders
from benchmarks.programs.evaluate import Input, answer

__all__ = ["serve"]


def serve(
    way: str, orders: Orders, examples: int, batch: int, single: bool = True, calls: int = 1
) -> None:
    """Executes orders, after one training step.

    Args:
      way: 'original' or 'here', 'keras', 'hand'.
      orders: each is a number of calls.
      examples: the number of examples of a call.
      batch: the examples of a batch.
      single: whether Estimators and the loop by hand give examples; otherwise batches.
      calls: the calls of an order.
    """
    inputs = Input(MLP(), examples, batch)
    make = {"hand": _by_hand, "keras": _by_keras}.get(way, _by_estimator)
    answer(orders, make(inputs, single), examples, calls)


def _by_estimator(inputs, single):
    config = estimators.RunConfig(tf_random_seed=1)
    estimator = estimators.Estimator(inputs.model.spec(estimators), config=config)
    estimator.train(inputs.model.dataset, steps=1)

    def call():
        predictions = estimator.predict(inputs.dataset, yield_single_examples=single)
        if not single:
            return sum(len(batch["class"]) for batch in predictions)
        pairs = enumerate(predictions, 1)
        ((count, _),) = deque(pairs, maxlen=1)
        return count

    return call


def _by_hand(inputs, single):
    model = inputs.model
    weights = model.start()

    @tf.function
    def predict(features):
        logits = model.logits(features, weights)
        return {"class": tf.argmax(logits, 1), "scores": tf.nn.softmax(logits)}

    def call():
        count = 0
        for features, _ in inputs.dataset():
            values = {key: value.numpy() for key, value in predict(features).items()}
            if not single:
                count += len(values["class"])
                continue
            for i in range(len(values["class"])):
                example = {key: value[i] for key, value in values.items()}
                count += len(example) // 2
        return count

    return call


def _by_keras(inputs, single):
    del single
    network = inputs.model.keras()
    network.compile(steps_per_execution=100)
    dataset = inputs.dataset().map(lambda features, labels: features)
    return lambda: len(network.predict(dataset, verbose=0))
