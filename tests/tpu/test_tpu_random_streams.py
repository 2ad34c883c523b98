"""Dropout in TPU mode: masks differ by replica, repeat in each run, and continue after a stop."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def draws(folder, cores, parts, seed=5, loop=2):
    """Returns the numbers of each step, [steps, cores, 6], trained in several parts."""
    seen = []

    def model_fn(features, labels, mode, params):
        drawn = tf.nn.dropout(tf.ones([1, 6]), rate=0.5) + tf.random.uniform([1, 6])
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(features * weight)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        host_call = (lambda x: v1.py_func(seen.append, [x], []), [drawn])
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=host_call)

    def input_fn(params):
        return tf.data.Dataset.from_tensors(tf.ones([params["batch_size"]])).repeat()

    for steps in parts:
        config = eb.tpu.RunConfig(
            master=f"emulated:{cores}",
            model_dir=str(folder),
            tf_random_seed=seed,
            tpu_config=eb.tpu.TPUConfig(iterations_per_loop=loop),
        )
        estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=cores)
        estimator.train(input_fn, steps=steps)
    return np.stack(seen)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return draws(tmp_path_factory.mktemp("whole"), 4, [6])


def test_each_replica_and_each_step_draws_its_own(whole):
    assert whole.shape == (6, 4, 6)
    assert len({value.tobytes() for value in whole.reshape(24, 6)}) == 24


def test_a_run_draws_what_another_did(whole, tmp_path):
    np.testing.assert_array_equal(draws(tmp_path / "again", 4, [6], loop=5), whole)
    assert not np.array_equal(draws(tmp_path / "other", 4, [6], seed=6), whole)


def test_a_resumed_run_goes_on(whole, tmp_path):
    np.testing.assert_array_equal(draws(tmp_path, 4, [1, 3, 2]), whole)
