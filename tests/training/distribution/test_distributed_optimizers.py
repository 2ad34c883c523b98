"""Replicas train to the weights of one replica that sees their batches as one."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from distributed_models import (
    batches,
    estimator,
    mirrored,
    model,
    output,
    strategy_of,
    uniform,
    weights,
)

import estimator_bridge as eb

v1 = tf.compat.v1
STEPS, GLOBAL_BATCH = 6, 8

OPTIMIZERS = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.5),
    "momentum": lambda: v1.train.MomentumOptimizer(0.2, 0.9, use_nesterov=True),
    "adam": lambda: v1.train.AdamOptimizer(0.05),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.3),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.3),
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0, epsilon=1e-2),
}


def trained(model_fn, folder, replicas):
    run = estimator(model_fn, folder / str(replicas), strategy_of(replicas))
    return weights(run.train(batches(GLOBAL_BATCH // replicas), steps=STEPS))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_two_and_four_replicas_train_as_one(name, tmp_path):
    model_fn = model(OPTIMIZERS[name])
    alone = trained(model_fn, tmp_path, 1)
    assert alone["global_step"] == STEPS
    for replicas in (2, 4):
        together = trained(model_fn, tmp_path, replicas)
        assert together.keys() == alone.keys()
        for key, value in alone.items():
            np.testing.assert_allclose(together[key], value, atol=1e-5, err_msg=key)


def test_keras_optimizer_adds_the_gradients_up(tmp_path):
    """Keras optimizers do not divide the loss, in the original neither: here the model does."""

    def model_fn(features, labels, mode):
        loss = v1.losses.sigmoid_cross_entropy(labels, output(features))
        optimizer = tf.keras.optimizers.legacy.Adam(0.05)
        optimizer.iterations = v1.train.get_global_step()
        mean = loss / tf.distribute.get_strategy().num_replicas_in_sync
        (train_op,) = optimizer.get_updates(mean, v1.trainable_variables())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    alone, together = (trained(model_fn, tmp_path, replicas) for replicas in (1, 2))
    for key, value in alone.items():
        np.testing.assert_allclose(together[key], value, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("rows", [8, 50])
@pytest.mark.parametrize("is_fixed", [True, False])
def test_rows_of_a_table_are_updated_as_one_replica_updates_them(rows, is_fixed, tmp_path):
    """With Momentum, a row that no example touched keeps its state, unlike one of gradient 0."""

    def model_fn(features, labels, mode):
        table = v1.get_variable("table", [rows, 3], initializer=uniform(3))
        loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, features) - 1.0))
        train_op = v1.train.MomentumOptimizer(0.5, 0.9).minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn(size):
        def ids():
            data = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 2, 2, 3, 1, 5, 6]))
            return data.repeat(STEPS).batch(size, drop_remainder=is_fixed)

        return ids

    alone, together = (
        weights(estimator(model_fn, tmp_path / str(n), strategy_of(n)).train(input_fn(4 // n)))
        for n in (1, 2)
    )
    assert alone["global_step"] == 2 * STEPS
    for key, value in alone.items():
        np.testing.assert_allclose(together[key], value, atol=1e-5, err_msg=key)


class Handwritten(v1.train.Optimizer):
    """As BERT's: apply_gradients assigns by itself."""

    def __init__(self, adds_up: bool):
        super().__init__(False, "Handwritten")
        self._adds_up = adds_up

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        gradients, variables = zip(*grads_and_vars)
        if self._adds_up:
            context = tf.distribute.get_replica_context()
            gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        updates = []
        for gradient, variable in zip(gradients, variables):
            moment = v1.get_variable(
                variable.op.name + "/moment",
                variable.shape,
                trainable=False,
                initializer=v1.zeros_initializer(),
            )
            new = 0.9 * moment + gradient
            updates += [variable.assign(variable - 0.1 * new), moment.assign(new)]
        return tf.group(*updates, v1.assign_add(global_step, 1), name=name)


def test_handwritten_optimizer_that_adds_gradients_up(tmp_path):
    model_fn = model(lambda: Handwritten(adds_up=True))
    alone, together = (trained(model_fn, tmp_path, replicas) for replicas in (1, 2))
    for key, value in alone.items():
        np.testing.assert_allclose(together[key], value, atol=1e-5, err_msg=key)


def test_handwritten_optimizer_that_does_not_is_refused_by_name(tmp_path):
    """In the original the replicas drifted apart, and the first one's weights were saved."""
    run = estimator(model(lambda: Handwritten(adds_up=False)), tmp_path, mirrored(2))
    with pytest.raises(ValueError, match=r"drift apart: 4 of 4 .*'hidden/kernel'.*all_reduce"):
        run.train(batches(4), steps=1)
    assert not run.latest_checkpoint()


def test_gradients_may_be_accumulated_by_each_replica(tmp_path):
    """The accumulators differ between replicas; what is applied is their sum."""

    def model_fn(features, labels, mode):
        loss = v1.losses.sigmoid_cross_entropy(labels, output(features))
        step = v1.train.get_global_step()
        optimizer = v1.train.GradientDescentOptimizer(0.5)
        pairs, updates = [], []
        for gradient, variable in optimizer.compute_gradients(loss):
            slot = v1.get_variable(
                variable.op.name + "/kept",
                variable.shape,
                trainable=False,
                initializer=v1.zeros_initializer(),
            )
            updates.append(slot.assign(0.5 * slot + gradient))
            pairs.append((slot, variable))
        with tf.control_dependencies(updates):
            pairs = [(slot.read_value(), variable) for slot, variable in pairs]
            train_op = optimizer.apply_gradients(pairs, step)
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    alone, together = (trained(model_fn, tmp_path, replicas) for replicas in (1, 2))
    np.testing.assert_allclose(together["out/kernel"], alone["out/kernel"], atol=1e-5)
