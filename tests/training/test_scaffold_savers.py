"""The model's own savers, partitioned variables, and moving averages."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from test_scaffold import make, ones, run, variables

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def steps_in(folder):
    return sorted(int(path.stem.rpartition("-")[2]) for path in folder.glob("model.ckpt-*.index"))


def own_saver(**options):
    return lambda: v1.train.Scaffold(saver=v1.train.Saver(**options))


def in_collection(**options):
    return lambda: v1.add_to_collection(v1.GraphKeys.SAVERS, v1.train.Saver(**options))


@pytest.mark.parametrize(
    "scaffold",
    [
        lambda: None,
        own_saver(max_to_keep=2),
        own_saver(max_to_keep=2, sharded=True, save_relative_paths=True),
        in_collection(max_to_keep=2),
    ],
    ids=["default", "own", "sharded", "in collection"],
)
def test_old_checkpoints_go_after_a_restart_too(tmp_path, scaffold):
    estimator = make(scaffold, tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=2)
    for _ in range(3):
        estimator.train(ones, steps=2)
    assert steps_in(tmp_path) == [5, 6]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.all_model_checkpoint_paths == [str(tmp_path / f"model.ckpt-{i}") for i in (5, 6)]
    assert run(estimator, "evaluate") == 1.0


def test_some_are_kept_by_the_hour(tmp_path):
    scaffold = own_saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    make(scaffold, tmp_path, save_checkpoints_steps=1).train(ones, steps=2)
    assert steps_in(tmp_path) == [0, 1, 2]


@pytest.mark.parametrize("relative", [True, False])
def test_relative_paths_are_the_savers_choice(tmp_path, relative):
    make(own_saver(save_relative_paths=relative), tmp_path / "model").train(ones, steps=1)
    shutil.move(tmp_path / "model", tmp_path / "moved")
    named = (tmp_path / "moved" / "checkpoint").read_text()
    assert (str(tmp_path) in named) != relative
    estimator = make(own_saver(save_relative_paths=relative), tmp_path / "moved")
    assert estimator.latest_checkpoint() == str(tmp_path / "moved" / "model.ckpt-1")
    estimator.train(ones, steps=1)
    assert estimator.get_variable_value("global_step") == 2


def all_but_v():
    others = [variable for name, variable in variables().items() if name != "v"]
    return v1.train.Saver(others)


@pytest.mark.parametrize("mode", ["train", "evaluate", "predict"])
def test_what_a_saver_leaves_out_has_no_value_after_a_restore(tmp_path, mode):
    estimator = make(lambda: v1.train.Scaffold(saver=all_but_v()), tmp_path)
    estimator.train(ones, steps=1)
    assert estimator.get_variable_names() == ["global_step", "w"]
    with pytest.raises(RuntimeError, match=r"for local_init.*not initialized: v\. .*was restored"):
        run(estimator, mode)


def test_what_a_saver_leaves_out_may_be_initialized_each_time(tmp_path):
    def scaffold():
        rest = tf.group(variables()["v"].initializer, v1.local_variables_initializer())
        return v1.train.Scaffold(
            saver=all_but_v(), ready_for_local_init_op=v1.no_op(), local_init_op=rest
        )

    estimator = make(scaffold, tmp_path)
    for step in (1, 2):
        run(estimator, "train")
        assert estimator.get_variable_value("global_step") == step
    assert run(estimator, "evaluate") == 1.0


def test_a_saver_with_names_of_its_own(tmp_path):
    def scaffold():
        return v1.train.Scaffold(
            saver=v1.train.Saver({f"old/{name}": v for name, v in variables().items()})
        )

    estimator = make(scaffold, tmp_path)
    run(estimator, "evaluate")
    estimator.train(ones, steps=1)
    estimator.train(ones, max_steps=2)  # no step is found by name, so it is trained
    assert estimator.get_variable_names() == ["old/global_step", "old/v", "old/w"]
    assert estimator.get_variable_value("old/global_step") == 2
    assert run(estimator, "predict") == [1.0] * 3
    with pytest.raises(eb.errors.CheckpointError, match=r"lacks 3 .*\(global_step, v, w\).*old/v"):
        run(make(lambda: None, tmp_path), "evaluate")


def test_an_object_based_saver(tmp_path):
    def scaffold():
        return v1.train.Scaffold(saver=tf.train.Checkpoint(**variables()))

    estimator = make(scaffold, tmp_path)
    estimator.train(ones, steps=1)
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in estimator.get_variable_names()
    assert run(estimator, "evaluate") == 1.0
    with pytest.raises(eb.errors.CheckpointError, match=r"written by tf\.train\.Checkpoint"):
        run(make(lambda: None, tmp_path), "evaluate")


def partitioned(features, labels, mode):
    table = v1.get_variable(
        "table",
        [10, 2],
        initializer=v1.ones_initializer(),
        partitioner=v1.fixed_size_partitioner(3),
    )
    with v1.variable_scope("scope", partitioner=v1.min_max_variable_partitioner(4, 0, 16)):
        other = v1.get_variable("other", [8, 3], initializer=v1.ones_initializer())
    rows = v1.nn.embedding_lookup(table, features, partition_strategy="div")
    loss = tf.reduce_sum(rows**2) + tf.reduce_sum(tf.convert_to_tensor(other) ** 2)
    optimizer = v1.train.MomentumOptimizer(0.25, 0.5)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions={"rows": rows})


def whole(features, labels, mode):
    """The same model, in one part."""
    partitioner = v1.fixed_size_partitioner(1)
    with v1.variable_scope("", partitioner=partitioner, reuse=v1.AUTO_REUSE):
        table = tf.convert_to_tensor(v1.get_variable("table", [10, 2]))
    return eb.EstimatorSpec(mode, predictions={"rows": tf.gather(table, features)})


def rows_of_ids():
    return tf.data.Dataset.from_tensor_slices(np.array([0, 9, 4, 4])).batch(2)


def test_parts_are_one_in_a_checkpoint(tmp_path):
    estimator = eb.Estimator(partitioned, str(tmp_path))
    estimator.train(rows_of_ids, steps=1)
    estimator.train(rows_of_ids, steps=1)  # from its checkpoint
    shapes = dict(tf.train.list_variables(str(tmp_path)))
    assert {name: shape for name, shape in shapes.items() if "Momentum" not in name} == {
        "global_step": [],
        "scope/other": [8, 3],
        "table": [10, 2],
    }
    assert shapes["table/Momentum"] == [10, 2]
    table = estimator.get_variable_value("table")
    np.testing.assert_allclose(table[[0, 9, 1, 4]], [[0.0] * 2, [0.0] * 2, [1] * 2, [1] * 2])
    other = estimator.get_variable_value("scope/other")
    np.testing.assert_allclose(other, np.zeros([8, 3]) + (0.5 - 0.25 - 0.25), atol=1e-6)
    assert estimator.evaluate(rows_of_ids)["global_step"] == 2
    parts = [p["rows"] for p in estimator.predict(rows_of_ids)]
    one = [p["rows"] for p in eb.Estimator(whole, str(tmp_path)).predict(rows_of_ids)]
    np.testing.assert_array_equal(parts, one)
    np.testing.assert_array_equal(parts, table[[0, 9, 4, 4]])


def test_parts_are_exported(tmp_path):
    estimator = eb.Estimator(partitioned, str(tmp_path / "model"))
    estimator.train(rows_of_ids, steps=1)

    def receiver():
        ids = v1.placeholder(tf.int64, [None])
        return eb.export.TensorServingInputReceiver(ids, {"ids": ids})

    path = estimator.export_saved_model(str(tmp_path / "exports"), receiver).decode()
    serve = tf.saved_model.load(path).signatures["serving_default"]
    expected = estimator.get_variable_value("table")[[9, 3]]
    np.testing.assert_array_equal(serve(ids=tf.constant([9, 3], tf.int64))["rows"], expected)


def test_parts_of_another_whole_are_a_mismatch(tmp_path):
    eb.Estimator(partitioned, str(tmp_path)).train(rows_of_ids, steps=1)

    def larger(features, labels, mode):
        table = v1.get_variable("table", [12, 2], partitioner=v1.fixed_size_partitioner(2))
        rows = v1.nn.embedding_lookup(table, features, partition_strategy="div")
        return eb.EstimatorSpec(mode, predictions={"rows": rows})

    message = r"a mismatch between .*table is float32 \(12, 2\) in the model and float32 \(10, 2\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        next(eb.Estimator(larger, str(tmp_path)).predict(rows_of_ids))


def averaging(features, labels, mode):
    w = v1.get_variable("w", [], initializer=v1.ones_initializer())
    average = v1.train.ExponentialMovingAverage(0.5)
    step = v1.train.get_global_step()
    scaffold = None
    train_op = None
    if mode == eb.ModeKeys.TRAIN:
        with tf.control_dependencies([w.assign_add(1.0)]):
            averaged = average.apply([w])
        with tf.control_dependencies([averaged]):
            train_op = v1.assign_add(step, 1)
    else:
        restored = average.variables_to_restore([w])
        assert restored[average.average_name(w)] is w
        scaffold = v1.train.Scaffold(saver=v1.train.Saver(restored))
    loss = w + 0.0 * tf.reduce_mean(features)
    return eb.EstimatorSpec(
        mode, loss=loss, train_op=train_op, predictions={"w": features * w}, scaffold=scaffold
    )


def test_evaluation_with_moving_averages(tmp_path):
    estimator = eb.Estimator(averaging, str(tmp_path))
    estimator.train(ones, steps=2)
    assert estimator.get_variable_value("w") == 3
    average = 0.5 * (0.5 * 1 + 0.5 * 2) + 0.5 * 3  # from 1, by 2 and 3
    assert estimator.get_variable_value("w/ExponentialMovingAverage") == average
    assert estimator.evaluate(ones)["loss"] == average
    assert next(estimator.predict(ones))["w"].tolist() == [average] * 3
