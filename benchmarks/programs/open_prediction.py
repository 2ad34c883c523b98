"""Requests to a prediction that stays open over a generator, as many serving scripts have it."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.estimators import estimators, tf
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders

__all__ = ["serve"]

_WARM_UP = 200


def serve(way: str, orders: Orders, calls: int = 1000) -> None:
    """Executes orders, each a number of requests with a new row of 64 numbers.

    Args:
      way: does not matter.
      orders: any number of orders.
      calls: the requests of an order.
    """
    del way
    request = _open()
    rows = MLP().features(np.random.RandomState(0), calls)
    for row in rows[:_WARM_UP]:
        request(row)
    for _ in orders:
        start, cpu = time.perf_counter(), time.process_time()
        for row in rows:
            request(row)
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        orders.tell(
            **{"a request, ms": took / calls * 1000, "a request, CPU ms": cpu / calls * 1000}
        )


def _open():
    model = MLP()
    config = estimators.RunConfig(tf_random_seed=1)
    estimator = estimators.Estimator(model.spec(estimators), config=config)
    estimator.train(model.dataset, steps=1)
    waiting = []

    def rows():
        while True:
            yield waiting.pop()  # an IndexError if it were asked for before the next request

    def inputs():
        return tf.data.Dataset.from_generator(rows, tf.float32, tf.TensorShape([64])).batch(1)

    answers = estimator.predict(inputs)

    def request(row):
        waiting.append(row)
        return next(answers)

    return request
