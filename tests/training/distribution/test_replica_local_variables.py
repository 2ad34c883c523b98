"""Variables that each replica updates independently, read and restored as one."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from distributed_models import Fetched, estimator, mirrored, strategy_of, weights

import estimator_bridge as eb

v1 = tf.compat.v1
SUM, MEAN = tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN


def local(name, aggregation, dtype=tf.float32, initial=0):
    return v1.get_variable(
        name,
        [],
        dtype,
        trainable=False,
        initializer=v1.constant_initializer(initial),
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=aggregation,
    )


def model_fn(features, labels, mode):
    del labels
    x = tf.reduce_sum(features)
    last, total = local("last", MEAN), local("total", SUM)
    count, ones = local("count", SUM, tf.int64), local("ones", SUM, initial=1)
    updates = [last.assign(x), total.assign_add(x), count.assign_add(1), ones.assign_add(0.0)]
    with tf.control_dependencies(updates):
        inside = tf.identity(total.read_value(), name="inside")  # a replica's own

        def outside(strategy, variable):
            return strategy.extended.read_var(variable)

        merged = tf.distribute.get_replica_context().merge_call(outside, args=(total,))
        merged = tf.identity(merged, name="outside")
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.EstimatorSpec(mode, loss=inside + 0 * merged, train_op=train_op)


def numbers(start, stop):
    return lambda: tf.data.Dataset.range(start, stop).map(lambda n: tf.cast(n, tf.float32))


class ReadsAndWrites(v1.train.SessionRunHook):
    """Reads the variables between steps, and adds 100 to the total once."""

    def __init__(self):
        self.values = []

    def begin(self):
        self.variables = {v.op.name: v for v in v1.global_variables()}
        self.add = v1.assign_add(self.variables["total"], 100.0)

    def after_create_session(self, session, coord):
        session.run(self.add)

    def after_run(self, run_context, run_values):
        self.values.append(run_context.session.run(self.variables))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    hooks = [Fetched(["inside:0", "outside:0"]), ReadsAndWrites()]
    trained = estimator(model_fn, tmp_path_factory.mktemp("locals"), mirrored(2))
    trained.train(numbers(1, 5), hooks=hooks)
    return trained, *hooks


def test_a_step_sees_a_replicas_own_value_and_the_whole(run):
    _, fetched, _ = run
    # 50 of the hook's 100 went to each replica.
    assert fetched.values == [[51, 103], [54, 110]]


def test_a_session_sees_the_sum_or_the_mean(run):
    _, _, hook = run
    assert [value["total"] for value in hook.values] == [103, 110]
    assert [value["last"] for value in hook.values] == [1.5, 3.5]
    assert [value["count"] for value in hook.values] == [2, 4]


def test_a_checkpoint_holds_the_whole(run):
    saved = weights(run[0])
    assert (saved["total"], saved["last"], saved["count"]) == (110, 3.5, 4)
    assert saved["ones"] == 2  # each replica's copy began as 1, as in the original


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_training_goes_on_from_the_whole(replicas, run, tmp_path):
    saved = run[0].latest_checkpoint()

    def restored(features, labels, mode):
        spec = model_fn(features, labels, mode)
        names = ("total", "last", "count", "ones")
        v1.train.init_from_checkpoint(saved, {name: name for name in names})
        return spec

    again = estimator(model_fn, tmp_path / "resumed", strategy_of(replicas))
    estimator(restored, tmp_path / "resumed", mirrored(2)).train(numbers(0, 2), max_steps=1)
    before = weights(again)
    again.train(numbers(0, replicas), steps=1)
    after = weights(again)
    assert after["total"] == before["total"] + sum(range(replicas))
    assert after["count"] == before["count"] + replicas
    assert after["ones"] == before["ones"]


def test_batch_norm_averages_the_replicas_moving_averages(tmp_path):
    def normed(features, labels, mode):
        del labels
        v1.layers.batch_normalization(features[:, None], training=True, momentum=0.5, name="norm")
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    batches = [[1.0, 3.0], [5.0, 9.0], [2.0, 2.0], [0.0, 8.0]]
    data = tf.data.Dataset.from_tensor_slices(np.array(batches, np.float32))
    saved = weights(estimator(normed, tmp_path, mirrored(2)).train(lambda: data))
    mean, variance = np.zeros(2), np.ones(2)
    for step in range(2):
        two = np.array(batches[2 * step : 2 * step + 2])
        mean = 0.5 * mean + 0.5 * two.mean(axis=1)
        variance = 0.5 * variance + 0.5 * two.var(axis=1)
    np.testing.assert_allclose(saved["norm/moving_mean"], [mean.mean()], rtol=1e-6)
    np.testing.assert_allclose(saved["norm/moving_variance"], [variance.mean()], rtol=1e-6)


@pytest.mark.parametrize(
    ("aggregation", "expected"), [("SUM", 6.0), ("MEAN", 3.0), ("ONLY_FIRST_REPLICA", 2.0)]
)
def test_a_replicas_assignment_to_a_shared_variable_is_joined(aggregation, expected, tmp_path):
    def assigning(features, labels, mode):
        del labels
        shared = v1.get_variable(
            "shared",
            [],
            initializer=v1.zeros_initializer(),
            aggregation=getattr(tf.VariableAggregation, aggregation),
        )
        with tf.control_dependencies([shared.assign(features)]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=features, train_op=train_op)

    data = tf.data.Dataset.from_tensor_slices(np.array([2.0, 4.0], np.float32))
    run = estimator(assigning, tmp_path, mirrored(2)).train(lambda: data)
    assert weights(run)["shared"] == expected


def test_an_average_of_a_variable_of_the_replicas_follows_their_mean(tmp_path):
    """The original failed on it."""

    def averaging(features, labels, mode):
        del labels
        last = local("last", MEAN)
        average = v1.train.ExponentialMovingAverage(0.5)
        with tf.control_dependencies([last.assign(features)]):
            update = average.apply([last])
        with tf.control_dependencies([update]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=features, train_op=train_op)

    data = tf.data.Dataset.from_tensor_slices(np.array([2.0, 4.0], np.float32))
    saved = weights(estimator(averaging, tmp_path, mirrored(2)).train(lambda: data))
    assert saved["last"] == 3
    assert saved["last/ExponentialMovingAverage"] == 1.5
