"""The program of each process of test_jax_hosts.py, and what one process trains beside them.

Its arguments are the program's name and a folder. TF_CONFIG gives it its role. It prints JSON, one
object a line.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

import estimator_bridge as eb  # isort: skip  # first: it selects Keras 2 before TensorFlow loads

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.elements_ahead import ElementsAhead

v1 = tf.compat.v1

STEPS, BATCH = 20, 8
X = np.random.RandomState(0).randn(STEPS, BATCH, 5).astype(np.float32)


def say(**what):
    print(json.dumps(what), flush=True)


def model_fn(features, labels, mode, params, config):
    del labels
    if params.get("says_seed"):
        say(seed=config.tf_random_seed)
    hidden = v1.layers.dense(features, 4, tf.nn.tanh, name="hidden")
    if mode == eb.ModeKeys.TRAIN and params.get("noise"):
        hidden = v1.nn.dropout(hidden, rate=0.3, seed=params["noise"])
        hidden += v1.random_normal(hidden.shape, stddev=0.1, seed=params["noise"])
    out = v1.layers.dense(hidden, 1, name="out")
    if mode == eb.ModeKeys.PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"out": out})
    loss = tf.reduce_mean(tf.square(out - tf.reduce_sum(features, 1, keepdims=True)))
    v1.summary.scalar("twice", 2 * loss)
    tf.identity(v1.tpu.cross_replica_sum(loss), name="total")
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.05))
    host_call = None
    if params.get("reports"):
        report = lambda rows: v1.py_func(lambda r: say(rows=r.tolist()), [rows], [])  # noqa: E731
        host_call = report, [tf.reduce_sum(features[:, :1], keepdims=True)[0]]
    return eb.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step()),
        eval_metrics=(lambda out: {"mean": v1.metrics.mean(out)}, [out]), host_call=host_call,
    )  # fmt: skip


def rows_of(params):
    """Returns the rows of each step's batch that a host has."""
    context, size = params["context"], params["batch_size"]
    return X.reshape(STEPS, context.num_hosts, size, 5)[:, context.current_host]


def input_fn(params):
    """The first host may have fewer batches."""
    data = tf.data.Dataset.from_tensor_slices(rows_of(params))
    is_first = params["context"].current_host == 0
    return data.take(params.get("batches", STEPS)) if is_first else data


def mixed_input_fn(params):
    """The second host's batches are a generator's, which must not be read ahead."""
    if params["context"].current_host == 0:
        return input_fn(params)
    rows = rows_of(params)
    return tf.data.Dataset.from_generator(
        lambda: iter(rows), output_signature=tf.TensorSpec(rows.shape[1:])
    )


def same_batch(params):
    context, size = params["context"], params["batch_size"]
    rows = X[0].reshape(context.num_hosts, size, 5)[context.current_host]
    return tf.data.Dataset.from_tensors(rows).repeat()


def few(params):
    return tf.data.Dataset.from_tensor_slices(X[0, :7]).batch(params["batch_size"])


def estimator_of(master, folder, seed=11, tpu=None, **params):
    config = eb.tpu.RunConfig(
        master=master, model_dir=str(folder), tf_random_seed=seed, save_checkpoints_steps=5,
        save_summary_steps=4, log_step_count_steps=5,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4, **(tpu or {})),
    )  # fmt: skip
    return eb.tpu.TPUEstimator(
        model_fn, config=config, params=params, train_batch_size=BATCH, eval_batch_size=4,
        predict_batch_size=4,
    )  # fmt: skip


class Slow(v1.train.SessionRunHook):
    def before_run(self, run_context):
        time.sleep(0.2)


class Adds(v1.train.SessionRunHook):
    """Runs an operation that changes a variable."""

    def begin(self):
        counter = v1.get_variable("counter", [], trainable=False)
        self._add = v1.assign_add(counter, 1.0)

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self._add)


class Totals(v1.train.SessionRunHook):
    """Fetches a sum over all replicas."""

    def __init__(self):
        self.values = []

    def before_run(self, run_context):
        return v1.train.SessionRunArgs("total:0")

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))


def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "none"


@contextlib.contextmanager
def counted_reads_ahead():
    """Yields a list of the numbers of batches that are read for a later call."""
    numbers, keep = [], ElementsAhead.keep

    def counting(elements, count, *arguments):
        numbers.append(count)
        keep(elements, count, *arguments)

    ElementsAhead.keep = counting
    try:
        yield numbers
    finally:
        ElementsAhead.keep = keep


def trainings(folder, master="jax:cpu:2"):
    """Trains some models, one after the other, to the end of the input or to step 20."""
    plain = estimator_of(master, folder / "plain", reports=True)
    plain.train(input_fn, max_steps=4)
    plain.train(input_fn, max_steps=8)
    with counted_reads_ahead() as reads:
        estimator_of(master, folder / "noise", noise=5).train(input_fn, max_steps=STEPS)
    estimator_of(master, folder / "mixed").train(mixed_input_fn, max_steps=STEPS)
    uneven = estimator_of(master, folder / "uneven", batches=13)
    uneven.train(input_fn)
    results = uneven.evaluate(few)
    totals = Totals()
    hooks = [totals] if uneven.config.is_chief else []
    estimator_of(master, folder / "summed").train(input_fn, hooks=hooks, max_steps=6)
    return {
        "reads_ahead": sum(reads),
        "totals": totals.values,
        "uneven": int(uneven.get_variable_value("global_step")),
        "evaluated": {name: float(value) for name, value in results.items()},
        "predicted": [float(row["out"][0]) for row in uneven.predict(few)],
    }


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name == "trainings":
        say(**trainings(folder))
        broadcast = {"per_host_input_for_training": eb.tpu.InputPipelineConfig.BROADCAST}
        whole = estimator_of("jax:cpu:2", folder / "refused", tpu=broadcast)
        say(broadcast=error_of(lambda: whole.train(input_fn, max_steps=1)))
        adding = estimator_of("jax:cpu:2", folder / "refused", seed=None, says_seed=True)
        say(adds=error_of(lambda: adding.train(input_fn, hooks=[Adds()], max_steps=1)))
    if name == "different":
        one = estimator_of("jax:cpu:2", folder / "different")
        other = estimator_of("jax:cpu:2", folder / "different", reports=not one.config.is_chief)
        say(error=error_of(lambda: other.train(input_fn, max_steps=1)))
    if name == "slow":
        slow = estimator_of("jax:cpu:2", folder / "slow", noise=5)
        slow.train(same_batch, hooks=[Slow()], max_steps=30)
        say(ended=os.getpid())


if __name__ == "__main__":
    main()
