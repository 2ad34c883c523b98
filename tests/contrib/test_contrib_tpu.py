"""tf.contrib.tpu: names that TPU programs import, including those only in this module."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import predictor, tpu

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.mark.parametrize(
    "name",
    [
        "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator",
        "TPUEstimatorSpec", "cross_replica_sum",
    ],
)  # fmt: skip
def test_estimators_are_this_librarys(name):
    assert getattr(tpu, name) is getattr(eb.tpu, name)


@pytest.mark.parametrize(
    "name",
    [
        "batch_parallel", "bfloat16_scope", "core", "initialize_system", "outside_compilation",
        "replicate", "rewrite", "shard", "shutdown_system",
    ],
)  # fmt: skip
def test_tpu_functions_are_there(name):
    assert callable(getattr(tpu, name))


def test_versions_of_exports_are_accepted(tmp_path):
    config = tpu.RunConfig(model_dir=str(tmp_path))
    for version in tpu.ExportSavedModelApiVersion:
        estimator = tpu.TPUEstimator(
            lambda features, labels, mode, params: None,
            config=config,
            use_tpu=False,
            train_batch_size=8,
            export_saved_model_api_version=version,
        )
        assert estimator.model_dir == str(tmp_path)


def test_loops():
    with tf.Graph().as_default(), v1.Session() as session:
        powers = tpu.repeat(10, lambda x: [x * 2], [tf.constant(1)])
        until = tpu.while_loop(lambda x: x < 50, lambda x: [x + 20], [tf.constant(0)])
        assert tf.nest.flatten(session.run([powers, until])) == [1024, 60]


def test_device_assignment():
    topology = tpu.Topology(
        mesh_shape=[2, 2, 1, 2],
        device_coordinates=[[[x, y, 0, c] for x in (0, 1) for y in (0, 1) for c in (0, 1)]],
    )
    one = tpu.device_assignment(topology, num_replicas=8)
    assert isinstance(one, tpu.DeviceAssignment) and one.num_replicas == 8
    two = tpu.device_assignment(topology, [1, 1, 1, 2], num_replicas=4)
    assert (two.num_cores_per_replica, two.num_replicas) == (2, 4)


def numbers(params):
    return tf.data.Dataset.from_tensors(np.float32([1, 2, 3, 4])).repeat()


def with_hooks(*hooks):
    def model_fn(features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        if mode == eb.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"y": features * weight})
        loss = tf.reduce_mean(features) * weight
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        if params["use_tpu"]:
            optimizer = tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


@pytest.mark.parametrize("cores", [0, 2])
def test_async_checkpoint_saver_hook(cores, tmp_path):
    saved = []

    class Listener(eb.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saved.append(int(global_step_value))

    hook = tpu.AsyncCheckpointSaverHook(str(tmp_path), save_steps=4, listeners=[Listener()])
    config = tpu.RunConfig(
        master=f"emulated:{cores or 1}",
        model_dir=str(tmp_path),
        save_checkpoints_steps=None,
        save_checkpoints_secs=None,
        tpu_config=tpu.TPUConfig(iterations_per_loop=2),
    )
    estimator = tpu.TPUEstimator(
        with_hooks(hook), config=config, train_batch_size=4, use_tpu=bool(cores)
    )
    estimator.train(numbers, steps=10)
    assert saved == [0, 4, 8, 10]
    assert estimator.latest_checkpoint().endswith("model.ckpt-10")
    np.testing.assert_allclose(estimator.get_variable_value("weight"), 1 - 10 * 0.1 * 2.5, 1e-5)


def test_export_estimator_savedmodel(tmp_path):
    config = tpu.RunConfig(model_dir=str(tmp_path / "model"))
    estimator = tpu.TPUEstimator(with_hooks(), config=config, train_batch_size=4, use_tpu=False)
    estimator.train(numbers, steps=1)

    def receivers():
        x = v1.placeholder(tf.float32, [None])
        return eb.export.TensorServingInputReceiver(x, x)

    folder = tpu.export_estimator_savedmodel(estimator, str(tmp_path / "out"), receivers)
    predict = predictor.from_saved_model(folder)
    (key,) = predict.feed_tensors
    np.testing.assert_allclose(predict({key: [4.0]})["y"], [3.0], rtol=1e-6)


def test_in_memory_eval_hook(tmp_path):
    seen = []

    class Counting(eb.SessionRunHook):
        def begin(self):
            seen.append("evaluation")

    config = tpu.RunConfig(
        master="emulated:2",
        model_dir=str(tmp_path),
        tpu_config=tpu.TPUConfig(iterations_per_loop=2),
    )

    def model_fn(features, labels, mode, params):
        spec = with_hooks()(features, labels, mode, params)
        return tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op)

    estimator = tpu.TPUEstimator(model_fn, config=config, train_batch_size=4, eval_batch_size=4)
    hook = tpu.TPUInMemoryEvalHook(
        estimator, numbers, steps=1, hooks=[Counting()], every_n_iter=4, name="within"
    )
    estimator.train(numbers, hooks=[hook], steps=8)
    (path,) = (tmp_path / "eval_within").glob("*tfevents*")
    steps = [e.step for e in v1.train.summary_iterator(str(path)) if e.HasField("summary")]
    assert sorted(set(steps)) == [0, 4, 8] and seen
    with pytest.raises(ValueError, match="is for a TPUEstimator; got Estimator"):
        tpu.TPUInMemoryEvalHook(eb.Estimator(lambda features: None), numbers)
