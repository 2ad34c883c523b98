import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from running import BATCH, Traced, X, Y, descent, linear, squared, train

from estimator_bridge.model import ModeKeys, Model

v1 = tf.compat.v1


def keras_norm(features, training):
    net = tf_keras.layers.BatchNormalization(momentum=0.5)(features, training=training)
    return tf_keras.layers.Dense(1)(net)


def keras_norm_without_saying(features):
    return keras_norm(features, training=None)


def keras_sequential(features, training):
    layers = [tf_keras.layers.BatchNormalization(momentum=0.5), tf_keras.layers.Dense(1)]
    return tf_keras.Sequential(layers)(features, training=training)


def keras_functional(features, training):
    inputs = tf_keras.Input([3])
    net = tf_keras.layers.BatchNormalization(momentum=0.5)(inputs)
    model = tf_keras.Model(inputs, tf_keras.layers.Dense(1)(net))
    return model(features, training=training)


def layers_norm(features, training):
    net = v1.layers.batch_normalization(features, momentum=0.5, training=training)
    return v1.layers.dense(net, 1)


NORMS = [
    keras_norm,
    keras_norm_without_saying,
    keras_sequential,
    keras_functional,
    layers_norm,
]


def _moving_mean(weights):
    (mean,) = [v for name, v in weights.items() if name.endswith("moving_mean")]
    return mean


@pytest.mark.parametrize("inference", NORMS)
@pytest.mark.parametrize("adapter", ["model_fn", "tpu_model_fn"])
def test_moving_averages_move_in_training_and_nowhere_else(inference, adapter):
    model = Model(inference, squared, optimizer=descent)
    build, cores = getattr(model, adapter), 1 if adapter == "tpu_model_fn" else None
    _, weights = train(build, X, Y, 1, cores)
    mean = _moving_mean(weights)
    np.testing.assert_allclose(mean, 0.5 * X[0].mean(axis=0), rtol=1e-4)
    evaluation = Traced(build, ModeKeys.EVAL, X, Y, cores)
    evaluation.run(1)
    np.testing.assert_array_equal(_moving_mean(evaluation.weights()), 0)


def test_moving_averages_are_each_replicas_own():
    model = Model(keras_norm, squared, optimizer=descent)
    _, weights = train(model.tpu_model_fn, X, Y, 1, cores=2)
    mean = _moving_mean(weights)
    np.testing.assert_allclose(mean, 0.5 * X[0, : BATCH // 2].mean(axis=0), rtol=1e-4)


def _l2(weights):
    return 0.5 * tf.reduce_sum(tf.square(weights))  # of three ones: 1.5


def v1_regularized(features):
    return v1.layers.dense(
        features, 1, kernel_initializer=v1.ones_initializer(), kernel_regularizer=_l2
    )


def keras_regularized(features):
    layer = tf_keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer=_l2)
    return tf_keras.Sequential([tf_keras.Sequential([layer])])(features)


def keras_functional_regularized(features):
    inputs = tf_keras.Input([3])
    layer = tf_keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer=_l2)
    return tf_keras.Model(inputs, layer(inputs))(features)


class Penalty(tf_keras.layers.Layer):
    def call(self, inputs):
        self.add_loss(1.5 + 0.0 * tf.reduce_sum(inputs))
        return inputs


def keras_added_loss(features):
    return Penalty()(linear(features))


def keras_added_loss_in_a_functional_model(features):
    inputs = tf_keras.Input([3])
    net = tf_keras.layers.Dense(1, kernel_initializer="ones")(Penalty()(inputs))
    return tf_keras.Model(inputs, net)(features)


REGULARIZED = [
    v1_regularized,
    keras_regularized,
    keras_functional_regularized,
    keras_added_loss,
    keras_added_loss_in_a_functional_model,
]


@pytest.mark.parametrize("inference", REGULARIZED)
@pytest.mark.parametrize("mode", [ModeKeys.TRAIN, ModeKeys.EVAL])
@pytest.mark.parametrize("cores", [None, 1, 2])
def test_regularisation_is_counted_once(inference, mode, cores):
    model = Model(inference, squared, optimizer=descent)
    traced = Traced(model.tpu_model_fn if cores else model.model_fn, mode, X, Y, cores)
    plain = np.mean((X[0].sum(axis=-1, keepdims=True) - Y[0]) ** 2)
    np.testing.assert_allclose(traced.run(1), [plain + 1.5], rtol=1e-5)


def test_regularisation_in_the_users_own_loss_is_not_added_again():
    networks = []

    def inference(features):
        layer = tf_keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer=_l2)
        networks.append(tf_keras.Sequential([layer]))
        return v1_regularized(networks[-1](features))

    def own_sum(labels, outputs):
        own = tf.add_n(networks[-1].losses) + v1.losses.get_regularization_loss()
        return squared(labels, outputs) + 10 * own

    losses = Traced(Model(inference, own_sum).model_fn, ModeKeys.EVAL, X, Y).run(1)
    plain = np.mean((X[0].sum(axis=-1, keepdims=True) - Y[0]) ** 2)
    np.testing.assert_allclose(losses, [plain + 10 * (1.5 + 0.5)], rtol=1e-5)


def test_frozen_keras_layers_stay_as_they_are():
    def inference(features, training):
        base = tf_keras.Sequential(
            [tf_keras.layers.Dense(3, name="base"), tf_keras.layers.BatchNormalization(name="norm")]
        )
        base.trainable = False
        return tf_keras.layers.Dense(1, name="head")(base(features, training=training))

    model = Model(inference, squared, optimizer=descent)
    traced = Traced(model.model_fn, ModeKeys.TRAIN, X, Y)
    before = traced.weights()
    traced.run(3)
    moved = {n for n, v in traced.weights().items() if not np.array_equal(v, before[n])}
    assert moved == {"head/kernel", "head/bias", "global_step"}


def test_keras_is_left_as_it_was():
    owner = v1.layers.Layer.__base__
    before = {name: vars(owner)[name] for name in ("add_loss", "add_update", "add_weight")}

    def inference(features):
        raise KeyError("the user's own mistake")

    with tf.Graph().as_default(), pytest.raises(KeyError, match="own mistake"):
        Model(inference).model_fn(tf.zeros([2, 3]), None, ModeKeys.PREDICT)
    assert {name: vars(owner)[name] for name in before} == before
