"""What a saver finds already written, by whether it replaces the files."""

import functools
import os

import numpy as np
import pytest
import tensorflow as tf
from engine import v1

import estimator_bridge as eb
from estimator_bridge.checkpoint import CheckpointingSession, load_variable
from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import default_strategy
from estimator_bridge.training import AsyncCheckpoints

LONG = 300_000  # more bytes than are compared at a time
BITS = [0x7FC00001, 0x80000000, 0x00000001, 0xFF800000]  # NaN, -0, a denormal, -infinity
VALUES = {
    "special": np.array(BITS, np.uint32).view(np.float32),
    "long": np.arange(LONG, dtype=np.float32),
    "scalar": np.int64(7),
    "nothing": np.zeros([0, 3], np.float32),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "bytes": np.arange(3, dtype=np.uint8),
    "half": np.array([1.5, -2], tf.bfloat16.as_numpy_dtype),
}


def saves(tmp_path, *savers, between=lambda session: None, values=None):
    """Saves by each saver, and returns the checkpoint and whether the last one wrote it."""
    with trace_graph() as graph:
        for name, value in (VALUES if values is None else values).items():
            v1.get_variable(name, initializer=tf.constant(value))
        savers = [saver() for saver in savers]
        init = v1.global_variables_initializer()
    with CheckpointingSession(graph, default_strategy()) as session:
        session.run(init)
        for i, saver in enumerate(savers):
            if i == len(savers) - 1:
                between(session)
                path = f"{tmp_path}/model.ckpt.data-00000-of-00001"
                before = os.stat(path).st_ino if os.path.exists(path) else None
            saver.save(session, str(tmp_path / "model.ckpt"))
    return str(tmp_path / "model.ckpt"), os.stat(path).st_ino != before


@pytest.mark.parametrize("make", [v1.train.Saver, lambda: v1.train.Saver(sharded=True)])
def test_values_of_every_type_are_compared(tmp_path, make):
    path, wrote = saves(tmp_path, make, make)
    assert not wrote
    for name, value in VALUES.items():
        np.testing.assert_array_equal(
            np.asarray(load_variable(path, name)).reshape(-1).view(np.uint8),
            np.asarray(value).reshape(-1).view(np.uint8),
        )


@pytest.mark.parametrize("name", sorted(set(VALUES) - {"nothing"}))
def test_one_changed_bit_of_the_last_element_is_written(tmp_path, name):
    changed = np.array(VALUES[name]).reshape(-1)
    changed[-1:].view(np.uint8)[0] ^= 1
    changed = changed.reshape(np.shape(VALUES[name]))

    def change(session):
        variable = next(v for v in v1_variables(session) if v.op.name == name)
        variable.load(changed, session)

    path, wrote = saves(tmp_path, v1.train.Saver, v1.train.Saver, between=change)
    assert wrote
    assert np.asarray(load_variable(path, name)).tobytes() == changed.tobytes()


def v1_variables(session):
    return session.graph.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)


def fewer():
    return v1.train.Saver([v for v in v1.global_variables() if v.op.name != "bool"])


def renamed():
    return v1.train.Saver({f"the_{v.op.name}": v for v in v1.global_variables()})


@pytest.mark.parametrize("first", [fewer, renamed])
@pytest.mark.parametrize("is_first", [True, False])
def test_other_names_are_written(tmp_path, first, is_first):
    savers = [first, v1.train.Saver]
    path, wrote = saves(tmp_path, *(savers if is_first else reversed(savers)))
    names = {name for name, _ in tf.train.list_variables(path)}
    assert wrote
    assert len(names) == len(VALUES) - (first is fewer and not is_first)
    assert any(name.startswith("the_") for name in names) == (first is renamed and not is_first)


def in_parts():
    with v1.variable_scope("parts", partitioner=v1.fixed_size_partitioner(2)):
        v1.get_variable("w", [4], initializer=v1.ones_initializer())
    return v1.train.Saver()


def of_text():
    v1.get_variable("text", initializer=tf.constant(["a", "b"]))
    return v1.train.Saver()


@pytest.mark.parametrize("make", [in_parts, of_text])
def test_parts_and_text_are_written_each_time(tmp_path, make):
    once = functools.cache(make)
    _, wrote = saves(tmp_path, once, once, values={"v": np.float32(1)})
    assert wrote


@pytest.mark.parametrize("master", ["", "emulated:2"])
@pytest.mark.parametrize("hooks", [[], [AsyncCheckpoints()]], ids=["", "asynchronous"])
def test_a_resumed_training_leaves_the_checkpoint_as_it_is(tmp_path, master, hooks):
    def model_fn(features, labels, mode, params):
        del labels, params
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(features * w)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    def train():
        config = eb.tpu.RunConfig(master=master, model_dir=str(tmp_path))
        estimator = eb.tpu.TPUEstimator(
            model_fn, config=config, use_tpu=bool(master), train_batch_size=2, eval_batch_size=2
        )
        estimator.train(batches, steps=2, hooks=hooks)

    def batches(params):
        return tf.data.Dataset.from_tensors(tf.ones([params["batch_size"], 2])).repeat()

    def files():
        return {file.name: file.stat().st_ino for file in tmp_path.glob("model.ckpt-2.[di]*")}

    train()
    before = files()
    train()
    assert len(before) == 2
    assert files() == before
    assert load_variable(str(tmp_path), "global_step") == 4
