"""A TPU's batches are on its cores before their step; here emulated cores get theirs that way."""

from __future__ import annotations

import numpy as np
import pytest
from pods import trace_loop

import estimator_bridge as eb
from estimator_bridge.runtime import sent_batches
from estimator_bridge.testing import described_tpu

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
TRAIN, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.PREDICT


def input_fn(params):
    x = np.random.RandomState(0).rand(48, 4).astype(np.float32)
    features = {"x": x, "number": np.arange(48, dtype=np.int64)}
    data = tf.data.Dataset.from_tensor_slices((features, x.sum(1)))
    data = data.batch(params["batch_size"], drop_remainder=True)
    return data.map(lambda features, labels: ({**features, "tag": tag(features)}, labels))


def tag(features):
    """Returns a text for each example: texts stay on the host."""
    return tf.strings.as_string(features["number"])


def model_fn(features, labels, mode, params):
    predicted = v1.layers.dense(features["x"], 1)[:, 0]
    if mode == PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"y": predicted, **features})
    loss = v1.losses.mean_squared_error(labels, predicted)
    if mode == eb.ModeKeys.EVAL:
        metrics = (lambda y: {"mean": v1.metrics.mean(y)}, [predicted])
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics)
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.1))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


class Losses(v1.train.SessionRunHook):
    """The loss of each call of the loop."""

    def __init__(self):
        self.losses = []

    def before_run(self, run_context):
        loss = v1.get_collection(v1.GraphKeys.LOSSES)[0]
        return v1.train.SessionRunArgs(loss)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


def results(folder, cores, loop):
    """Returns what a program of all modes gives on emulated cores."""
    config = eb.tpu.RunConfig(
        master=f"emulated:{cores}",
        tf_random_seed=3,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=loop),
    )
    estimator = eb.tpu.TPUEstimator(
        model_fn,
        str(folder),
        config=config,
        train_batch_size=8,
        eval_batch_size=8,
        predict_batch_size=8,
    )
    hook = Losses()
    estimator.train(input_fn, max_steps=4, hooks=[hook])
    estimator.train(input_fn, max_steps=100, hooks=[hook])  # ends with the input
    weights = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    return {
        **weights,
        **estimator.evaluate(input_fn, steps=5),
        "losses": hook.losses,
        "predictions": [one["y"] for one in estimator.predict(input_fn)],
        "tags": [one["tag"] for one in estimator.predict(input_fn)],
    }


@pytest.mark.parametrize(("cores", "loop"), [(1, 4), (2, 1), (4, 3)])
def test_numbers_steps_and_the_inputs_end_are_the_same(cores, loop, tmp_path, monkeypatch):
    expected = results(tmp_path / "drawn", cores, loop)
    sources = []
    make = sent_batches.SentBatchSource.__init__
    monkeypatch.setattr(sent_batches, "is_on_tpu", lambda strategy: True)
    monkeypatch.setattr(
        sent_batches.SentBatchSource,
        "__init__",
        lambda self, *arguments: (sources.append(self), make(self, *arguments))[1],
    )
    sent = results(tmp_path / "sent", cores, loop)
    assert sources
    assert expected["global_step"] == 10
    assert expected.keys() == sent.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(value, sent[name], err_msg=name)


def test_each_core_has_its_part_of_the_next_batch():
    graph = trace_loop(described_tpu(4), model_fn, lambda params, mode: input_fn(params), TRAIN, 8)
    placed = graph.graph.placed
    cores = [device for device in placed if "/device:TPU:" in device]
    assert len(cores) == 4
    # The first batch before the loop, and in the loop the next one, each of three components.
    assert {core: placed[core]["Identity"] for core in cores} == dict.fromkeys(cores, 2 * 3)
