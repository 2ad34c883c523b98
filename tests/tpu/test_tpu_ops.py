"""TPU model_fns with bfloat16, host computations and batch norm over replicas."""

from __future__ import annotations

import os

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.tensorflow_private.names import get_tpu_context

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(16, 6).astype(np.float32)


def examples(params):
    data = tf.data.Dataset.from_tensor_slices((X, X.sum(axis=1, keepdims=True)))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def train(model, model_dir, cores, steps=6):
    """Trains with a loss and further operations that ``model`` makes of features and labels."""

    def model_fn(features, labels, mode, params):
        loss, operations = model(features, labels)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.05))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=tf.group(train_op, operations))

    config = eb.tpu.RunConfig(
        master=f"emulated:{cores}",
        model_dir=str(model_dir),
        tf_random_seed=1,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=3),
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
    return estimator.train(examples, steps=steps)


def dense(x, name="dense"):
    return v1.layers.dense(x, 1, kernel_initializer=v1.glorot_uniform_initializer(1), name=name)


def test_bfloat16_scope(tmp_path):
    seen = {}

    def model(features, labels):
        with v1.tpu.bfloat16_scope():
            logits = dense(tf.cast(features, tf.bfloat16))
        seen["computed in"] = logits.dtype
        return tf.reduce_mean(tf.square(tf.cast(logits, tf.float32) - labels)), []

    one, two = (train(model, tmp_path / str(n), n) for n in (1, 2))
    assert seen["computed in"] == tf.bfloat16
    assert one.get_variable_value("dense/kernel").dtype == np.float32  # the master copy
    for name in one.get_variable_names():
        # Gradients are bfloat16 too: 8 bits, and half a batch rounds otherwise than a whole one.
        np.testing.assert_allclose(
            one.get_variable_value(name), two.get_variable_value(name), atol=2e-2
        )
    assert np.ptp(one.get_variable_value("dense/kernel")) > 0


@pytest.mark.parametrize("cores", [1, 2])
def test_outside_compilation(cores, tmp_path):
    seen = []

    def model(features, labels):
        loss = tf.reduce_mean(tf.square(dense(features) - labels))

        def on_the_host(x):
            return v1.py_func(lambda v: seen.append(v.shape), [x], [])

        return loss, v1.tpu.outside_compilation(on_the_host, features)

    train(model, tmp_path, cores, steps=2)
    assert seen == [(16 // cores, 6)] * (2 * cores)


def batch_norm_over_replicas(x):
    """As EfficientNet and ResNet wrote it: moments of all replicas' batches."""
    shards = get_tpu_context().number_of_shards

    def everywhere(value):
        return v1.tpu.cross_replica_sum(value) / tf.cast(shards, value.dtype)

    mean = everywhere(tf.reduce_mean(x, axis=0))
    variance = everywhere(tf.reduce_mean(tf.square(x), axis=0)) - tf.square(mean)
    return (x - mean) / tf.sqrt(variance + 1e-3)


def test_batch_norm_over_replicas_sees_the_global_batch(tmp_path):
    def model(features, labels):
        normal = batch_norm_over_replicas(dense(features, "before"))
        return tf.reduce_mean(tf.square(dense(normal, "after") - labels)), []

    runs = {n: train(model, tmp_path / str(n), n) for n in (1, 2, 8)}
    for name in runs[1].get_variable_names():
        for n in (2, 8):
            got, expected = (runs[k].get_variable_value(name) for k in (n, 1))
            np.testing.assert_allclose(got, expected, atol=1e-5, err_msg=f"{name} on {n} cores")


def test_batch_norm_over_groups_of_replicas(tmp_path):
    """Two groups of two: a replica's moments are those of its group's half of the batch."""
    groups = [[0, 1], [2, 3]]
    names = {}

    def model(features, labels):
        mean = v1.tpu.cross_replica_sum(tf.reduce_mean(features, axis=0), groups) / 2
        store = v1.get_variable("store", [6], trainable=False, initializer=v1.zeros_initializer())
        names["name"] = store.op.name
        return tf.reduce_mean(tf.square(dense(features) - labels)), v1.assign(store, mean)

    estimator = train(model, tmp_path, 4, steps=1)
    first_half = X[:8].mean(axis=0)  # of the first replica's group
    np.testing.assert_allclose(estimator.get_variable_value(names["name"]), first_half, atol=1e-6)


class ReplicatedBatchNorm(v1.layers.BatchNormalization):
    """EfficientNet's way: the layer's own moments, averaged over groups of replicas."""

    def __init__(self, group_size, **kwargs):
        super().__init__(fused=False, **kwargs)
        self._group_size = group_size

    def _average(self, value):
        shards = get_tpu_context().number_of_shards or 1
        groups = np.arange(shards).reshape(-1, self._group_size).tolist()
        total = v1.tpu.cross_replica_sum(value, groups)
        return total / tf.cast(self._group_size, value.dtype)

    def _moments(self, inputs, reduction_axes, keep_dims, mask=None):
        mean, variance = super()._moments(inputs, reduction_axes, keep_dims=keep_dims, mask=mask)
        squares = self._average(variance + tf.square(mean))
        mean = self._average(mean)
        return mean, squares - tf.square(mean)


def test_a_batch_norm_layer_with_moments_of_its_own(tmp_path):
    def model_of(group_size):
        def model(features, labels):
            layer = ReplicatedBatchNorm(group_size, momentum=0.5, name="normal")
            normal = layer(dense(features, "before"), training=True)
            updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS) or layer.updates
            return tf.reduce_mean(tf.square(dense(normal, "after") - labels)), tf.group(updates)

        return model

    runs = {n: train(model_of(n), tmp_path / str(n), n) for n in (1, 2, 8)}
    names = runs[1].get_variable_names()
    assert "normal/moving_mean" in names
    assert runs[1].get_variable_value("normal/moving_variance") != 1
    for name in names:
        for n in (2, 8):
            got, expected = (runs[k].get_variable_value(name) for k in (n, 1))
            np.testing.assert_allclose(got, expected, atol=1e-5, err_msg=f"{name} on {n} cores")
    # In pairs, the first replica's moving mean is that of the first half of the batch.
    pairs = train(model_of(2), tmp_path / "pairs", 4, steps=1)
    kernel = tf.train.load_variable(str(tmp_path / "pairs" / "model.ckpt-0"), "before/kernel")
    np.testing.assert_allclose(
        pairs.get_variable_value("normal/moving_mean"), 0.5 * (X[:8] @ kernel).mean(0), atol=1e-5
    )


def test_gradients_are_accumulated_over_steps(tmp_path):
    """Every second step applies the mean of two steps' gradients, in a branch."""

    def model_fn(features, labels, mode, params):
        loss = tf.reduce_mean(tf.square(dense(features) - labels))
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.05))
        pairs = [(g, v) for g, v in optimizer.compute_gradients(loss) if g is not None]
        stores = [
            v1.get_variable(
                f"store_{i}", v.shape, initializer=v1.zeros_initializer(), trainable=False
            )
            for i, (_, v) in enumerate(pairs)
        ]
        step = v1.train.get_global_step()
        summed = [v1.assign_add(s, v1.tpu.cross_replica_sum(g)) for s, (g, _) in zip(stores, pairs)]

        def apply():
            sgd = v1.train.GradientDescentOptimizer(0.05)
            done = sgd.apply_gradients([(s / 2, v) for s, (_, v) in zip(summed, pairs)])
            with tf.control_dependencies([done]):
                return tf.group(*[v1.assign(s, tf.zeros_like(s)) for s in stores])

        with tf.control_dependencies(summed):
            applied = tf.cond(tf.equal(step % 2, 1), apply, tf.no_op)
        with tf.control_dependencies([applied]):
            train_op = v1.assign_add(step, 1)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    def run(cores):
        config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir=str(tmp_path / str(cores)))
        estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
        return estimator.train(examples, steps=4)

    one, two = run(1), run(2)
    kernel = one.get_variable_value("dense/kernel")
    np.testing.assert_allclose(two.get_variable_value("dense/kernel"), kernel, atol=1e-5)
    expected = run_by_hand(one)
    np.testing.assert_allclose(kernel, expected, atol=1e-5)


def run_by_hand(estimator):
    """The kernel after two updates, each with the mean gradient of two equal batches."""
    first = os.path.join(estimator.model_dir, "model.ckpt-0")
    kernel = tf.train.load_variable(first, "dense/kernel")
    bias = tf.train.load_variable(first, "dense/bias")
    y = X.sum(axis=1, keepdims=True)
    for _ in range(2):
        error = 2 * (X @ kernel + bias - y) / len(X)
        kernel, bias = kernel - 0.05 * X.T @ error, bias - 0.05 * error.sum(axis=0)
    return kernel
