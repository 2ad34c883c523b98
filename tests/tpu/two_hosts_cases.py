"""The cases for two hosts and, for comparison, for emulated cores: see two_hosts_program."""

from __future__ import annotations

import logging
import os

import numpy as np

import estimator_bridge as eb
from estimator_bridge.tpu import estimator as tpu_estimator

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
Pipeline = eb.tpu.InputPipelineConfig
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


class Watching:
    """A model whose host_call keeps the batch of each step, in the order of the replicas."""

    def __init__(self):
        self.seen = []

    def __call__(self, features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(weight - features / 100.0))
        if mode == PREDICT:
            return eb.tpu.TPUEstimatorSpec(mode, predictions={"x": features + 0.0 * weight})
        if mode == EVAL:

            def metrics(x):
                ones = tf.ones_like(x)
                return {"mean": v1.metrics.mean(x), "count": v1.metrics.true_positives(ones, ones)}

            return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metrics, [features]))
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())

        def keep(x):
            return v1.py_func(lambda rows: self.seen.append(rows.tolist()), [x], [])

        return eb.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=train_op, host_call=(keep, [features])
        )


def own_numbers(params, mode):
    """The numbers in the file of the host that reads them, of which each has another."""
    lines = tf.data.TextLineDataset("numbers.txt")
    data = lines.map(tf.strings.to_number)
    data = data.repeat() if mode == TRAIN else data
    return data.batch(params["batch_size"], drop_remainder=mode == TRAIN)


def looked_up(params, mode):
    """Numbers from a table of the graph that the input_fn is called in."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([0, 1, 2, 3], [7.0, 8.0, 9.0, 10.0]), -1.0
    )
    host = params["context"].current_host
    data = tf.data.Dataset.range(4).map(lambda i: table.lookup(tf.cast(i, tf.int32)) + 100 * host)
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def generated(params, mode):
    """Numbers from Python, of which only the client knows."""

    def numbers():
        yield from np.arange(16, dtype=np.float32) + 100 * params["context"].current_host

    data = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.float32))
    return data.batch(params["batch_size"], drop_remainder=True)


def on_the_client(params, mode):
    """Lines of a file that is in the client's folder alone."""
    with open("mine.txt", "w", encoding="utf-8") as file:
        file.write("1\n" * 100)
    lines = tf.data.TextLineDataset("mine.txt").map(tf.strings.to_number)
    return lines.batch(params["batch_size"], drop_remainder=True)


def estimator(model, folder, pipeline=True, master="emulated:4", **tpu_config):
    config = eb.tpu.RunConfig(
        master=master,
        model_dir=folder,
        tf_random_seed=1,
        tpu_config=eb.tpu.TPUConfig(2, per_host_input_for_training=pipeline, **tpu_config),
    )
    sizes = {"train_batch_size": 8, "eval_batch_size": 8, "predict_batch_size": 8}
    return eb.tpu.TPUEstimator(model, config=config, **sizes)


def trained(folder, input_fn=own_numbers, pipeline=True):
    """The batches of two steps, the calls of the input_fn, and the weight afterwards."""
    model, calls = Watching(), []

    def watched(params, mode):
        calls.append((params["batch_size"], params["context"].current_host))
        return input_fn(params, mode)

    estimator(model, folder, pipeline).train(watched, steps=2)
    weight = tf.train.load_variable(folder, "weight")
    return {"seen": model.seen, "calls": calls, "weight": weight, "files": os.listdir(folder)}


def run(strategy, one_host):
    """Everything, on a strategy with replicas on two hosts, and something on one of them."""
    tpu_estimator.tpu_strategy = lambda *arguments: one_host
    results = {"one_host": trained("one_host")}
    tpu_estimator.tpu_strategy = lambda *arguments: strategy
    for name in ("PER_HOST_V1", "PER_HOST_V2", "PER_SHARD_V1", "BROADCAST", "SLICED"):
        results[name] = trained(name, pipeline=getattr(Pipeline, name))
    results["table"] = trained("table", looked_up)
    warnings = []
    handler = logging.Handler()
    handler.emit = lambda record: warnings.append(record.getMessage())
    logging.getLogger("tensorflow").addHandler(handler)
    results["generated"] = trained("generated", generated)
    results["warnings"] = [w for w in warnings if "stays in this process" in w]
    try:
        trained("missing", on_the_client)
    except tf.errors.NotFoundError as error:
        results["error"] = error.message
    per_core = estimator(Watching(), "PER_HOST_V1", Pipeline.PER_HOST_V2)
    results["evaluated"] = per_core.evaluate(own_numbers)
    sliced = estimator(Watching(), "PER_HOST_V1", eval_training_input_configuration=Pipeline.SLICED)
    results["sliced"] = sliced.evaluate(own_numbers)
    results["predicted"] = [p["x"] for p in sliced.predict(own_numbers)]
    again = estimator(Watching(), "PER_HOST_V1")
    try:
        again.train(own_numbers, [eb.experimental.CheckpointInputPipelineHook(again)], max_steps=4)
    except NotImplementedError as error:
        results["position"] = str(error)
    again.train(own_numbers, max_steps=4)
    results["again"] = tf.train.load_variable("PER_HOST_V1", "global_step")
    return results
