"""The arguments of an input_fn, and the distribution of its batches to the replicas."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
Pipeline = eb.tpu.InputPipelineConfig


class Sum:
    """A model that adds up what its replicas see, and keeps what they see."""

    def __init__(self):
        self.params = []

    def __call__(self, features, labels, mode, params):
        self.params.append((features.shape.as_list(), dict(params)))
        seen = v1.get_variable("seen", [2], initializer=v1.zeros_initializer(), trainable=False)
        replica = eb.tpu.cross_replica_sum(tf.reduce_sum(features))
        own = v1.assign(seen, tf.stack([replica, tf.reduce_sum(features)]))
        with tf.control_dependencies([own]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)


def train(input_fn, model=None, batch_axis=None, steps=1, **tpu_config):
    model = model or Sum()
    config = eb.tpu.RunConfig(
        master="emulated:2", tpu_config=eb.tpu.TPUConfig(iterations_per_loop=1, **tpu_config)
    )
    estimator = eb.tpu.TPUEstimator(
        model, config=config, train_batch_size=4, batch_axis=batch_axis, params={"mine": 7}
    )
    estimator.train(input_fn, steps=steps)
    return estimator.get_variable_value("seen"), model.params


def numbers(count, **_):
    return tf.data.Dataset.from_tensor_slices(np.arange(100, dtype=np.float32)).batch(
        count, drop_remainder=True
    )


@pytest.mark.parametrize("pipeline", [True, Pipeline.PER_HOST_V1])
def test_input_of_the_host(pipeline):
    calls = []

    def input_fn(params):
        calls.append(dict(params))
        return numbers(params["batch_size"])

    (total, own), seen = train(input_fn, per_host_input_for_training=pipeline)
    assert (total, own) == (0 + 1 + 2 + 3, 0 + 1)
    (params,) = calls
    assert (params["batch_size"], params["mine"], params["use_tpu"]) == (4, 7, True)
    context = params["context"]
    assert (context.num_replicas, context.num_hosts, context.current_host) == (2, 1, 0)
    assert context.current_input_fn_deployment()[1:] == (0, 1, 2)
    ((shape, model_params),) = seen
    assert (shape, model_params["batch_size"]) == ([2], 2)


@pytest.mark.parametrize("pipeline", [False, Pipeline.PER_SHARD_V1])
def test_input_of_each_replica(pipeline):
    calls = []

    def input_fn(params):
        _, call, total, fed = params["context"].current_input_fn_deployment()
        calls.append((params["batch_size"], call, total, fed))
        return numbers(params["batch_size"]).map(lambda x: x + 10.0 * call)

    (total, own), _ = train(input_fn, per_host_input_for_training=pipeline)
    assert calls == [(2, 0, 2, 1), (2, 1, 2, 1)]
    assert (total, own) == (0 + 1 + 10 + 11, 0 + 1)


def test_input_of_the_host_in_batches_of_a_core():
    sizes = []

    def input_fn(params):
        sizes.append(params["batch_size"])
        return numbers(params["batch_size"])

    (total, own), _ = train(input_fn, steps=2, per_host_input_for_training=Pipeline.PER_HOST_V2)
    assert sizes == [2]
    assert (total, own) == (4 + 5 + 6 + 7, 4 + 5)


def test_evaluation_in_batches_of_a_core_sees_all_examples():
    def model_fn(features, labels, mode, params):
        def metrics(x):
            return {"sum": v1.metrics.mean(tf.reduce_sum(x)), "last": v1.metrics.mean(x[-1])}

        assert features.shape.as_list() == [params["batch_size"]]
        return eb.tpu.TPUEstimatorSpec(
            mode, loss=tf.reduce_mean(features), eval_metrics=(metrics, [features])
        )

    config = eb.tpu.RunConfig(
        master="emulated:2",
        tpu_config=eb.tpu.TPUConfig(per_host_input_for_training=Pipeline.PER_HOST_V2),
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, eval_batch_size=4)
    got = estimator.evaluate(lambda params: numbers(params["batch_size"]).take(5))  # 0 to 9
    np.testing.assert_allclose(got["sum"], (6 + 22 + 17) / 3)
    np.testing.assert_allclose(got["last"], (3 + 7 + 9) / 3)
    np.testing.assert_allclose(got["loss"], (1.5 + 5.5 + 8.5) / 3)


def test_broadcast_input():
    (total, own), _ = train(
        lambda params: numbers(params["batch_size"]),
        per_host_input_for_training=Pipeline.BROADCAST,
    )
    assert (total, own) == (2 * (0 + 1 + 2 + 3), 0 + 1 + 2 + 3)


def test_broadcast_examples_count_once_in_evaluation_and_prediction():
    def model_fn(features, labels, mode, params):
        if mode == eb.ModeKeys.PREDICT:
            return eb.tpu.TPUEstimatorSpec(mode, predictions={"x": features})
        metrics = (lambda x: {"count": sum_metric(tf.ones_like(x))}, [features])
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(features), eval_metrics=metrics)

    def sum_metric(values):
        total = v1.get_local_variable("total", [], initializer=v1.zeros_initializer())
        return total, v1.assign_add(total, tf.reduce_sum(values))

    config = eb.tpu.RunConfig(
        master="emulated:2",
        tpu_config=eb.tpu.TPUConfig(per_host_input_for_training=Pipeline.BROADCAST),
    )
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, eval_batch_size=4, predict_batch_size=4
    )

    def input_fn(params):
        return numbers(params["batch_size"]).take(2)

    assert [int(p["x"]) for p in estimator.predict(input_fn)] == list(range(8))
    results = estimator.evaluate(input_fn)
    assert (results["count"], results["loss"]) == (8, 3.5)


def test_transposed_input():
    def input_fn(params):
        return numbers(params["batch_size"]).map(lambda x: tf.stack([x, x + 100]))  # [2, batch]

    (total, own), seen = train(input_fn, batch_axis=[1])
    assert seen[0][0] == [2, 2]
    assert (total, own) == (2 * 6 + 400, 2 * 1 + 200)


def test_tensors_of_a_one_shot_iterator():
    def input_fn(params):
        return v1.data.make_one_shot_iterator(numbers(params["batch_size"])).get_next() * 2

    (total, own), _ = train(input_fn, steps=2)
    assert (total, own) == (2 * (4 + 5 + 6 + 7), 2 * (4 + 5))


def test_a_model_fn_is_told_of_the_replicas_and_no_deployment():
    model = Sum()
    train(lambda params: numbers(params["batch_size"]), model)
    ((_, params),) = model.params
    context = params["context"]
    assert (context.num_replicas, context.num_hosts, context.device_assignment) == (2, 1, None)
    assert context.device_for_replica(1) == ("/task:0/device:CPU:0", 1)
    with pytest.raises(ValueError, match="below 2"):
        context.device_for_replica(2)
    with pytest.raises(RuntimeError, match="must not be called from model_fn"):
        context.current_input_fn_deployment()


def test_an_input_fn_is_told_of_its_deployment_and_no_assignment():
    def input_fn(params):
        context = params["context"]
        device = "/replica:0/task:0/device:CPU:0"
        assert context.current_input_fn_deployment() == (device, 0, 1, 2)
        with pytest.raises(RuntimeError, match="must not be called from input_fn"):
            _ = context.device_assignment
        return numbers(params["batch_size"])

    train(input_fn)


def test_input_that_ends_loses_no_step():
    def input_fn(params):
        return numbers(params["batch_size"]).take(3)

    config = eb.tpu.RunConfig(master="emulated:2")  # two steps a loop
    estimator = eb.tpu.TPUEstimator(Sum(), config=config, train_batch_size=4)
    estimator.train(input_fn, max_steps=100)
    assert estimator.get_variable_value("global_step") == 3
    assert estimator.get_variable_value("seen")[0] == 8 + 9 + 10 + 11


def test_use_tpu_false():
    calls = []

    def input_fn(params):
        calls.append(dict(params))
        return numbers(params["batch_size"])

    model = Sum()
    estimator = eb.tpu.TPUEstimator(
        model, config=eb.tpu.RunConfig(), use_tpu=False, train_batch_size=4
    )
    estimator.train(input_fn, steps=1)
    assert estimator.get_variable_value("seen").tolist() == [6, 6]
    assert calls == [{"batch_size": 4}]
    ((shape, params),) = model.params
    assert (shape, params) == ([4], {"batch_size": 4, "use_tpu": False})


def test_keys_of_several_types_are_refused_on_cores():
    def mixed(params):
        rows = tf.zeros([params["batch_size"]])
        return {"a": rows, 42: rows}, None

    with pytest.raises(ValueError, match=r"features must have keys of one type.*'a', 42"):
        train(mixed)


@pytest.mark.parametrize(
    ("end", "is_ahead"),
    [
        (lambda d: d.map(tf.identity), False),
        (lambda d: d.map(tf.identity).prefetch(2), True),
        (lambda d: d.map(tf.identity).prefetch(2).take(3), False),
        (lambda d: d, True),  # slices of an array
        (lambda d: d.shuffle(16).prefetch(2).take(3), True),  # rows are gathered in a thread
    ],
)
def test_an_input_that_reads_ahead_by_itself_gets_no_second_buffer(end, is_ahead, monkeypatch):
    sizes = []
    prefetch = tf.data.Dataset.prefetch

    def watched(dataset, size):
        sizes.append(size)
        return prefetch(dataset, size)

    monkeypatch.setattr(tf.data.Dataset, "prefetch", watched)
    rows = np.ones([16, 1], np.float32)
    train(
        lambda params: end(tf.data.Dataset.from_tensor_slices(rows).batch(4, drop_remainder=True))
    )
    assert (tf.data.AUTOTUNE in sizes) != is_ahead
