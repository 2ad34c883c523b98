"""Models of tf.contrib.layers under the estimators: on one replica, on two cores, and resumed."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge_contrib import layers
from estimator_bridge_contrib.arg_scope import arg_scope

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
X = (RNG.normal(size=(8, 6, 6, 2)) + 1).astype(np.float32)
Y = RNG.integers(0, 3, 8).astype(np.int32)


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices((X, Y)).repeat()
    return data.batch(params.get("batch_size", 8), drop_remainder=True)


def model_fn(features, labels, mode, params):
    training = mode == "train"
    with arg_scope(
        [layers.conv2d],
        normalizer_fn=layers.batch_norm,
        normalizer_params={"is_training": training, "decay": 0.5, "fused": params["fused"]},
        weights_regularizer=layers.l2_regularizer(0.01),
    ):
        net = layers.conv2d(features, 4, 3, scope="conv1")
        net = layers.max_pool2d(net, 2)
    net = layers.dropout(layers.flatten(net), 0.9, is_training=training)
    logits = layers.fully_connected(layers.layer_norm(net), 3, activation_fn=None, scope="logits")
    loss = (
        v1.losses.sparse_softmax_cross_entropy(labels, logits) + v1.losses.get_regularization_loss()
    )
    optimizer = v1.train.MomentumOptimizer(0.05, 0.9)
    if params.get("use_tpu"):
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        step = v1.train.get_global_step()
        train_op = optimizer.minimize(loss, step)
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def estimator(tmp_path, cores=0, fused=None):
    return eb.tpu.TPUEstimator(
        model_fn,
        model_dir=str(tmp_path),
        config=eb.tpu.RunConfig(
            master=f"emulated:{cores}" if cores else None,
            tf_random_seed=1,
            tpu_config=eb.tpu.TPUConfig(iterations_per_loop=3),
        ),
        use_tpu=bool(cores),
        train_batch_size=8,
        eval_batch_size=8,
        params={"fused": fused},
    )


NAMES = {
    *("conv1/weights", "conv1/BatchNorm/beta"),
    *("conv1/BatchNorm/moving_mean", "conv1/BatchNorm/moving_variance"),
    *("LayerNorm/beta", "LayerNorm/gamma", "logits/weights", "logits/biases"),
}


@pytest.mark.parametrize(("cores", "fused"), [(0, False), (2, None)])
def test_a_model_of_layers_learns_and_resumes(tmp_path, cores, fused):
    trained = estimator(tmp_path, cores, fused)
    trained.train(input_fn, steps=6)
    saved = {name: trained.get_variable_value(name) for name in trained.get_variable_names()}
    model = {name for name in saved if not name.endswith("Momentum") and name != "global_step"}
    assert model == NAMES
    # The averages have moved: with a decay of 0.5, six steps forget the start nearly.
    assert (saved["conv1/BatchNorm/moving_mean"] != 0).all()
    assert (saved["conv1/BatchNorm/moving_variance"] != 1).all()
    first = trained.evaluate(input_fn, steps=1)["loss"]
    again = estimator(tmp_path, cores, fused)
    again.train(input_fn, steps=24)
    assert again.evaluate(input_fn, steps=1)["loss"] < first


def test_each_core_normalizes_its_own_part_of_the_batch(tmp_path):
    def only_norm(features, labels, mode, params):
        del labels
        outputs = layers.batch_norm(features, decay=0.0, scope="bn")
        loss = tf.reduce_mean(outputs * 0.0)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.0))
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    config = eb.tpu.RunConfig(
        master="emulated:2", tpu_config=eb.tpu.TPUConfig(iterations_per_loop=1)
    )
    trained = eb.tpu.TPUEstimator(only_norm, str(tmp_path), config, train_batch_size=8)
    trained.train(input_fn, steps=1)
    # As on a TPU, the first core's average is the one that is saved.
    np.testing.assert_allclose(
        trained.get_variable_value("bn/moving_mean"), X[:4].mean((0, 1, 2)), rtol=1e-4
    )


def test_under_a_mirrored_strategy_the_averages_are_joined(tmp_path):
    def only_norm(features, labels, mode):
        del labels
        outputs = layers.batch_norm(features, decay=0.0, scope="bn")
        loss = tf.reduce_mean(outputs * 0.0)
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            optimizer = v1.train.GradientDescentOptimizer(0.0)
            train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    config = eb.RunConfig(train_distribute=strategy)
    trained = eb.Estimator(only_norm, str(tmp_path), config)
    trained.train(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(4), steps=1)
    np.testing.assert_allclose(
        trained.get_variable_value("bn/moving_mean"), X.mean((0, 1, 2)), rtol=1e-4
    )
