"""Calls of a function of tf.contrib.predictor, one request each."""

from __future__ import annotations

import tempfile
import time

import numpy as np

from benchmarks.estimators import IS_ORIGINAL, estimators, tf, v1
from benchmarks.models.mlp import MLP
from benchmarks.orders import Orders

__all__ = ["serve"]

if IS_ORIGINAL:
    from tensorflow.contrib import learn, predictor
else:
    from estimator_bridge_contrib import learn, predictor

_WARM_UP = 100


def serve(way: str, orders: Orders, source: str, calls: int = 1000) -> None:
    """Executes orders, each a number of calls with a new row of 64 numbers.

    Args:
      way: does not matter.
      orders: any number of orders.
      source: 'saved_model', 'estimator' or 'contrib_estimator'.
      calls: the calls of an order.
    """
    del way
    call = {
        "saved_model": _of_saved_model,
        "estimator": _of_estimator,
        "contrib_estimator": _of_contrib_estimator,
    }[source]()
    rows = MLP().features(np.random.RandomState(0), calls + _WARM_UP).reshape(-1, 1, 64)
    for row in rows[calls:]:
        call({"x": row})
    for _ in orders:
        start, cpu = time.perf_counter(), time.process_time()
        for row in rows[:calls]:
            call({"x": row})
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        orders.tell(**{"a call, ms": took / calls * 1000, "a call, CPU ms": cpu / calls * 1000})


def _train():
    model = MLP()

    def model_fn(features, labels, mode):
        if isinstance(features, dict):
            features = features["x"]
        spec = model.spec(estimators)(features, labels, mode)
        if mode != "infer":
            return spec
        exports = {"serving_default": estimators.export.PredictOutput(spec.predictions)}
        return spec._replace(export_outputs=exports)

    estimator = estimators.Estimator(model_fn, config=estimators.RunConfig(tf_random_seed=1))
    return estimator.train(model.dataset, steps=1)


def _receivers():
    features = {"x": v1.placeholder(tf.float32, [None, 64], "x")}
    return estimators.export.ServingInputReceiver(features, features)


def _of_saved_model():
    folder = _train().export_saved_model(tempfile.mkdtemp(), _receivers)
    return predictor.from_saved_model(folder)


def _of_estimator():
    return predictor.from_estimator(_train(), _receivers)


def _of_contrib_estimator():
    model = MLP()

    def model_fn(features, labels, mode):
        logits = model.v1_logits(features["x"])
        predictions = {"class": tf.argmax(logits, 1), "scores": tf.nn.softmax(logits)}
        step = v1.assign_add(v1.train.get_or_create_global_step(), 1)
        return learn.ModelFnOps(mode, predictions, tf.reduce_sum(logits), step)

    def inputs():
        features = {"x": v1.placeholder(tf.float32, [None, 64], "x")}
        return learn.InputFnOps(features, None, features)

    estimator = learn.Estimator(model_fn, tempfile.mkdtemp())
    rows = np.zeros([4, 64], np.float32)
    estimator.fit(input_fn=lambda: ({"x": tf.constant(rows)}, None), steps=1)
    return predictor.from_contrib_estimator(estimator, inputs)
