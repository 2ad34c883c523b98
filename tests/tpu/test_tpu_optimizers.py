"""Optimizers of TPU programs: wrapped, hand-written, clipped before and after the sum."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tf_keras

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(32, 5).astype(np.float32)
Y = (X @ RANDOM.randn(5, 1) + 3).astype(np.float32)
STEPS, BATCH, RATE = 6, 16, 0.1


def examples(params):
    data = tf.data.Dataset.from_tensor_slices((X, Y)).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


class AdamWeightDecay(v1.train.Optimizer):
    """As BERT's: no compute_gradients, slots by get_variable, the global step left alone."""

    def __init__(self, rate, excluded=("bias",)):
        super().__init__(False, "AdamWeightDecay")
        self._rate, self._excluded = rate, excluded

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for gradient, variable in grads_and_vars:
            if gradient is None:
                continue
            m, v = self._slot(variable, "adam_m"), self._slot(variable, "adam_v")
            next_m = 0.9 * m + 0.1 * gradient
            next_v = 0.999 * v + 0.001 * tf.square(gradient)
            step = self._step(variable, next_m / (tf.sqrt(next_v) + 1e-3))
            assignments += [
                variable.assign(variable - step),
                m.assign(next_m),
                v.assign(next_v),
            ]
        return tf.group(*assignments, name=name)

    def _step(self, variable, update):
        if not any(re.search(pattern, variable.op.name) for pattern in self._excluded):
            update += 0.01 * variable
        return self._rate * update

    def _slot(self, variable, name):
        return v1.get_variable(
            f"{variable.op.name}/{name}",
            variable.shape.as_list(),
            trainable=False,
            initializer=v1.zeros_initializer(),
        )


class LAMB(AdamWeightDecay):
    """The same with a trust ratio for each layer."""

    def _step(self, variable, update):
        size, change = tf.norm(variable), tf.norm(update)
        ratio = tf.where(
            tf.greater(size, 0), tf.where(tf.greater(change, 0), size / change, 1.0), 1.0
        )
        return super()._step(variable, update) * ratio


class LARS(v1.train.Optimizer):
    """As ResNet's: slots by _create_slots, a layer's rate by the norms."""

    def __init__(self, rate):
        super().__init__(False, "LARS")
        self._rate = rate

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _apply_dense(self, grad, var):
        raise AssertionError("variables are resources")

    def _resource_apply_dense(self, grad, handle):
        size, length = tf.norm(handle), tf.norm(grad)
        trust = tf.where(size * length > 0, 0.1 * size / (length + 1e-4 * size + 1e-9), 1.0)
        return v1.raw_ops.ResourceApplyMomentum(
            var=handle.handle,
            accum=self.get_slot(handle, "momentum").handle,
            lr=self._rate * trust,
            grad=grad + 1e-4 * handle,
            momentum=0.9,
        )


def run(train_op_of, cores, folder):
    """Trains; returns the weights, and how many sums over the replicas a step has."""
    sums = []

    def model_fn(features, labels, mode, params):
        hidden = v1.layers.dense(
            features, 4, tf.nn.tanh, kernel_initializer=v1.glorot_uniform_initializer(1)
        )
        y = v1.layers.dense(hidden, 1, kernel_initializer=v1.glorot_uniform_initializer(2))
        loss = tf.reduce_mean(tf.square(y - labels))
        step = v1.train.get_global_step()
        train_op = train_op_of(loss, step)
        graph = v1.get_default_graph()
        sums.append(sum(op.type == "CrossReplicaSum" for op in graph.get_operations()))
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    config = eb.tpu.RunConfig(
        master=f"emulated:{cores}",
        model_dir=str(folder / str(cores)),
        tf_random_seed=1,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=3),
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=BATCH)
    estimator.train(examples, steps=STEPS)
    assert estimator.get_variable_value("global_step") == STEPS
    names = estimator.get_variable_names()
    return {name: estimator.get_variable_value(name) for name in names}, sums[0]


def minimized(make, wrap=eb.tpu.CrossShardOptimizer):
    return lambda loss, step: wrap(make()).minimize(loss, step)


def hand_written(make, wrap=eb.tpu.CrossShardOptimizer):
    """As BERT's create_optimizer, but for the gradients, which the optimizer scales."""

    def train_op(loss, step):
        optimizer = wrap(make())
        pairs = optimizer.compute_gradients(loss, v1.trainable_variables())
        done = optimizer.apply_gradients(pairs, global_step=step)
        return tf.group(done, step.assign(step + 1))

    return train_op


def clipped_after_the_sum(loss, step):
    """Each replica sums the gradients itself, and clips those of the global batch."""
    cross_shard = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(RATE))
    gradients, variables = zip(*cross_shard.compute_gradients(loss))
    gradients = [eb.tpu.cross_replica_sum(g) for g in gradients]
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    plain = v1.train.GradientDescentOptimizer(RATE)
    return plain.apply_gradients(zip(gradients, variables), step)


OPTIMIZERS = {
    "AdamWeightDecay": hand_written(lambda: AdamWeightDecay(0.01)),
    "LAMB": hand_written(lambda: LAMB(0.01)),
    "LARS": minimized(lambda: LARS(0.1)),
    "LARS in TensorFlow's": minimized(lambda: LARS(0.1), v1.tpu.CrossShardOptimizer),
    "LAMB in TensorFlow's": hand_written(lambda: LAMB(0.01), v1.tpu.CrossShardOptimizer),
    "tf_keras legacy Adam": minimized(lambda: tf_keras.optimizers.legacy.Adam(0.01)),
    "tf_keras legacy SGD": minimized(lambda: tf_keras.optimizers.legacy.SGD(0.05, momentum=0.9)),
    "clipped after the sum": clipped_after_the_sum,
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_weights_are_the_same_and_each_gradient_is_summed_once(name, tmp_path):
    alone, _ = run(OPTIMIZERS[name], 1, tmp_path)
    start = tf.train.load_checkpoint(str(tmp_path / "1" / "model.ckpt-0"))
    assert np.abs(alone["dense/kernel"] - start.get_tensor("dense/kernel")).max() > 1e-3
    for cores in (2, 4):
        together, sums = run(OPTIMIZERS[name], cores, tmp_path)
        assert sums == 4  # two kernels, two biases
        assert together.keys() == alone.keys()
        for variable, value in alone.items():
            np.testing.assert_allclose(together[variable], value, atol=1e-5, err_msg=variable)


@pytest.mark.parametrize("wrap", [eb.tpu.CrossShardOptimizer, v1.tpu.CrossShardOptimizer])
@pytest.mark.parametrize("cores", [1, 2, 4])
def test_gradients_that_are_clipped_before_the_sum(cores, wrap, tmp_path):
    """Each replica clips its own, which are a share of the mean's: as in the original."""

    def model_fn(features, labels, mode, params):
        kernel = v1.get_variable("kernel", [5, 1], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(features @ kernel - labels))
        optimizer = wrap(v1.train.GradientDescentOptimizer(RATE))
        pairs = optimizer.compute_gradients(loss)
        pairs = [(tf.clip_by_norm(gradient, 0.6), variable) for gradient, variable in pairs]
        train_op = optimizer.apply_gradients(pairs, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=BATCH)
    estimator.train(examples, steps=2)
    kernel = np.zeros([5, 1])
    for batch in (slice(0, 16), slice(16, 32)):
        total = 0
        for x, y in zip(np.split(X[batch], cores), np.split(Y[batch], cores)):
            gradient = 2 * x.T @ (x @ kernel - y) / len(x) / cores
            total = total + gradient * min(1, 0.6 / np.linalg.norm(gradient))
        kernel = kernel - RATE * total
    np.testing.assert_allclose(estimator.get_variable_value("kernel"), kernel, atol=1e-5)


def test_a_sum_of_losses_and_groups_of_replicas(tmp_path):
    """Groups of replicas train a model each; checkpoints hold that of the first."""
    SUM, MEAN = v1.losses.Reduction.SUM, v1.losses.Reduction.MEAN

    def trained(folder, groups, reduction, cores, batch=BATCH):
        def model_fn(features, labels, mode, params):
            kernel = v1.get_variable("kernel", [5, 1], initializer=v1.zeros_initializer())
            losses = tf.square(features @ kernel - labels)
            loss = tf.reduce_sum(losses) if reduction == SUM else tf.reduce_mean(losses) * batch
            optimizer = eb.tpu.CrossShardOptimizer(
                v1.train.GradientDescentOptimizer(0.01), reduction, group_assignment=groups
            )
            train_op = optimizer.minimize(loss, v1.train.get_global_step())
            return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

        config = eb.tpu.RunConfig(master=f"emulated:{cores}", model_dir=str(tmp_path / folder))
        estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=batch)
        estimator.train(examples, steps=1)
        return estimator.get_variable_value("kernel")

    expected = 0.02 * X[:16].T @ Y[:16]
    for cores in (1, 4):
        for reduction in (SUM, MEAN):
            kernel = trained(f"{cores}-{reduction}", None, reduction, cores)
            np.testing.assert_allclose(kernel, expected, rtol=1e-4)
    of_first_group = 0.02 * X[:8].T @ Y[:8]
    kernel = trained("groups", [[0, 1], [2, 3]], SUM, 4)
    np.testing.assert_allclose(kernel, of_first_group, rtol=1e-4)
