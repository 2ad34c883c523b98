"""train_distribute: arguments of model and input, reports, and the end of training."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from distributed_models import (
    Fetched,
    batches,
    estimator,
    mirrored,
    model,
    output,
    strategy_of,
    weights,
)

import estimator_bridge as eb

v1 = tf.compat.v1


def summaries(folder, tag):
    (path,) = folder.glob("events.out.tfevents.*")
    events = v1.train.summary_iterator(str(path))
    return [v.simple_value for event in events for v in event.summary.value if v.tag == tag]


@pytest.mark.parametrize(
    "strategy",
    [
        lambda: tf.distribute.OneDeviceStrategy("/cpu:1"),
        lambda: mirrored(2),
        lambda: v1.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
        lambda: tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0"),
        lambda: v1.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0"),
        tf.distribute.MultiWorkerMirroredStrategy,  # no cluster: one worker, one core
    ],
    ids=["one", "mirrored", "mirrored_v1", "central", "central_v1", "one_worker"],
)
def test_each_strategy_trains_to_the_same_weights(strategy, tmp_path):
    strategy = strategy()
    size = 8 // strategy.num_replicas_in_sync
    run = estimator(model(), tmp_path / "distributed", strategy).train(batches(size), steps=4)
    alone = estimator(model(), tmp_path / "alone").train(batches(8), steps=4)
    for key, value in weights(alone).items():
        np.testing.assert_allclose(weights(run)[key], value, atol=1e-5, err_msg=key)


def test_model_and_input_are_told_of_the_replicas(tmp_path):
    observed = {}

    def model_fn(features, labels, mode, config):
        context, strategy = tf.distribute.get_replica_context(), tf.distribute.get_strategy()
        observed.update(
            model=(context.num_replicas_in_sync, strategy.num_replicas_in_sync),
            config=config.train_distribute.num_replicas_in_sync,
            replica_id=context.replica_id_in_sync_group,
            cross=tf.distribute.in_cross_replica_context(),
            devices=len(strategy.extended.worker_devices),
        )
        return model()(features, labels, mode)

    def input_fn(mode, input_context):
        observed["input"] = (
            mode,
            input_context.num_input_pipelines,
            input_context.input_pipeline_id,
            input_context.num_replicas_in_sync,
            input_context.get_per_replica_batch_size(8),
        )
        observed["input_scope"] = tf.distribute.has_strategy()
        return batches(input_context.get_per_replica_batch_size(8))()

    estimator(model_fn, tmp_path, mirrored(2)).train(input_fn, steps=1)
    assert observed["model"] == (2, 2)
    assert observed["config"] == observed["devices"] == 2
    assert observed["cross"] is False
    assert observed["replica_id"].dtype == tf.int32  # a tensor, as in the original
    assert observed["input"] == ("train", 1, 0, 2, 4)
    assert observed["input_scope"] is True


def test_replicas_take_the_elements_in_turn(tmp_path):
    """The batch is a replica's: replica r of step s takes element 2 s + r."""

    def model_fn(features, labels, mode):
        seen = v1.get_variable("seen", [6, 2], trainable=False, initializer=v1.zeros_initializer())
        del labels
        step = v1.train.get_global_step()
        context = tf.distribute.get_replica_context()
        number = context.replica_id_in_sync_group
        mine = tf.one_hot(number, 2) * tf.reduce_sum(features)
        row = tf.one_hot(tf.cast(step, tf.int32), 6)[:, None] * mine[None]
        total = context.all_reduce(tf.distribute.ReduceOp.SUM, row)
        with tf.control_dependencies([seen.assign_add(total)]):
            train_op = v1.assign_add(step, 1)
        return eb.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    numbers = tf.data.Dataset.range(1, 8).map(lambda x: tf.cast(x, tf.float32)).batch(1)
    run = estimator(model_fn, tmp_path, mirrored(2)).train(lambda: numbers)
    assert weights(run)["global_step"] == 3  # the seventh element is not a step
    np.testing.assert_array_equal(
        weights(run)["seen"], [[1, 2], [3, 4], [5, 6], [0, 0], [0, 0], [0, 0]]
    )


def test_elements_of_one_step_may_differ_in_size(tmp_path):
    def sizes():
        return tf.data.Dataset.range(8).map(lambda n: tf.ones([n + 1], tf.float32))

    def model_fn(features, labels, mode):
        del labels
        count = v1.get_variable(
            "count",
            [],
            trainable=False,
            initializer=v1.zeros_initializer(),
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        loss = tf.reduce_sum(features)
        with tf.control_dependencies([count.assign_add(loss)]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    run = estimator(model_fn, tmp_path, mirrored(2)).train(sizes)
    assert weights(run)["count"] == sum(range(1, 9))


def test_the_mean_loss_is_reported_and_hooks_see_the_first_replicas(tmp_path):
    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(features, name="mine")
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        train_op = v1.train.GradientDescentOptimizer(0.0).minimize(
            loss * (1 + weight), v1.train.get_global_step()
        )
        v1.summary.scalar("of_replica", loss)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    hook = Fetched("mine:0")
    numbers = tf.data.Dataset.range(8).map(lambda x: tf.cast(x, tf.float32)).batch(1)
    run = estimator(model_fn, tmp_path, mirrored(2), save_summary_steps=1)
    run.train(lambda: numbers, hooks=[hook])
    assert summaries(tmp_path, "loss") == [0.5, 2.5, 4.5, 6.5]
    assert summaries(tmp_path, "of_replica") == [0, 2, 4, 6]
    assert hook.values == [0, 2, 4, 6]


def test_a_summed_loss_is_reported_as_the_sum(tmp_path):
    def model_fn(features, labels, mode):
        loss = v1.losses.mean_squared_error(
            labels, output(features), reduction=v1.losses.Reduction.SUM
        )
        train_op = v1.train.GradientDescentOptimizer(0.01).minimize(
            loss, v1.train.get_global_step()
        )
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    runs = [
        estimator(model_fn, tmp_path / str(n), strategy, save_summary_steps=1)
        for n, strategy in ((8, None), (4, mirrored(2)))
    ]
    for run, size in zip(runs, (8, 4)):
        run.train(batches(size), steps=3)
    alone, together = (summaries(tmp_path / str(n), "loss") for n in (8, 4))
    np.testing.assert_allclose(together, alone, rtol=1e-5)
    kernels = [weights(run)["out/kernel"] for run in runs]
    np.testing.assert_allclose(kernels[1], kernels[0], atol=1e-5)


def test_hooks_of_the_spec_and_chief_hooks_run(tmp_path):
    hooks = [Fetched("global_step:0") for _ in range(2)]
    model_fn = model(hooks=hooks[:1], chief_hooks=hooks[1:])
    estimator(model_fn, tmp_path, mirrored(2)).train(batches(4), steps=3)
    assert [len(hook.values) for hook in hooks] == [3, 3]


def test_dropout_differs_between_replicas(tmp_path):
    def model_fn(features, labels, mode):
        del labels
        mask = tf.nn.dropout(tf.ones([200]), rate=0.5, seed=3)
        difference = tf.distribute.get_replica_context().all_reduce(
            tf.distribute.ReduceOp.MEAN, mask
        )
        loss = tf.reduce_mean(tf.abs(difference - mask), name="difference")
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=loss + 0 * tf.reduce_sum(features), train_op=train_op)

    hook = Fetched("difference:0")
    estimator(model_fn, tmp_path, mirrored(2)).train(batches(4), [hook], steps=1)
    assert 0.3 < hook.values[0] < 0.7


def test_a_checkpoint_goes_from_two_replicas_to_one_and_back(tmp_path):
    input_fns = {1: batches(8, repeat=9), 2: batches(4, repeat=9)}
    alone = estimator(model(), tmp_path / "alone")
    for _ in range(3):
        alone.train(input_fns[1], steps=2)
    for replicas in (2, 1, 2):
        run = estimator(model(), tmp_path / "turns", strategy_of(replicas))
        run.train(input_fns[replicas], steps=2)
    assert weights(run)["global_step"] == 6
    for key, value in weights(alone).items():
        np.testing.assert_allclose(weights(run)[key], value, atol=1e-5, err_msg=key)


def test_prediction_runs_on_one_replica(tmp_path):
    run = estimator(model(), tmp_path, mirrored(2), mirrored(2)).train(batches(4), steps=1)
    chances = [p["chance"] for p in run.predict(batches(5, examples=13))]
    assert np.shape(chances) == (13, 1)


def test_a_server_strategy_without_servers_trains_in_one_process(tmp_path):
    strategy = v1.distribute.experimental.ParameterServerStrategy()
    run = estimator(model(), tmp_path / "strategy", strategy).train(batches(8), steps=3)
    alone = estimator(model(), tmp_path / "alone").train(batches(8), steps=3)
    for key, value in weights(alone).items():
        np.testing.assert_array_equal(weights(run)[key], value, err_msg=key)


def test_a_server_strategy_of_several_devices_is_refused_with_what_to_use(tmp_path):
    strategy = v1.distribute.experimental.ParameterServerStrategy()
    devices = mock.PropertyMock(return_value=("/gpu:0", "/gpu:1"))
    with mock.patch.object(type(strategy.extended), "worker_devices", devices):
        run = estimator(model(), tmp_path, strategy)
        with pytest.raises(NotImplementedError, match=r"of 2 GPUs .*CUDA_VISIBLE_DEVICES"):
            run.train(batches(4), steps=1)


def test_initial_values_may_come_from_a_checkpoint(tmp_path):
    first = estimator(model(), tmp_path / "first").train(batches(8), steps=2)

    def model_fn(features, labels, mode):
        spec = model()(features, labels, mode)
        v1.train.init_from_checkpoint(first.model_dir, {"hidden/": "hidden/"})
        return spec

    run = estimator(model_fn, tmp_path / "second", mirrored(2)).train(batches(4), max_steps=1)
    start = run.model_dir + "/model.ckpt-0"
    start_kernel = tf.train.load_checkpoint(start).get_tensor("hidden/kernel")
    np.testing.assert_allclose(start_kernel, weights(first)["hidden/kernel"])
