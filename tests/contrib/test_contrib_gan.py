"""tf.contrib.gan: the nets, the losses by their formulas, and the variables that a step changes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.errors import MissingNameError
from estimator_bridge_contrib import gan

v1 = tf.compat.v1
REAL = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]], np.float32)
NOISE = np.array([[1.0], [-2.0], [0.5]], np.float32)


def generator(noise):
    return v1.layers.dense(noise, 2, kernel_initializer=v1.ones_initializer(), use_bias=False)


def discriminator(data, _):
    regularizer = tf.keras.regularizers.L2(0.1)
    return v1.layers.dense(
        data, 1, kernel_initializer=v1.constant_initializer(0.5), kernel_regularizer=regularizer
    )


def model():
    return gan.gan_model(generator, discriminator, REAL, NOISE)


def evaluated(build):
    with tf.Graph().as_default(), v1.Session() as session:
        fetched = build()
        session.run(v1.global_variables_initializer())
        return session.run(fetched)


def test_variables_and_scopes():
    with tf.Graph().as_default():
        gan_model = model()
        assert [v.op.name for v in gan_model.generator_variables] == ["Generator/dense/kernel"]
        names = [v.op.name for v in gan_model.discriminator_variables]
        assert names == ["Discriminator/dense/kernel", "Discriminator/dense/bias"]
        assert len(v1.trainable_variables()) == 3


def test_generated_data_of_another_shape_are_refused():
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=r"\(3, 2\).*same shape.*\(3, 3\)"),
    ):
        gan.gan_model(generator, lambda data, _: data, np.ones([3, 3], np.float32), NOISE)


# What the discriminator says: half the sum of a row.
OF_REAL = REAL.sum(1) / 2
OF_GENERATED = NOISE[:, 0]
PENALTY = 0.1 * (0.5**2 * 2)


def sigmoid_entropy(logits, label):
    return np.mean(np.log1p(np.exp(-logits)) * label + np.log1p(np.exp(logits)) * (1 - label))


@pytest.mark.parametrize(
    ("kind", "of_generator", "of_discriminator"),
    [
        ("wasserstein", -OF_GENERATED.mean(), OF_GENERATED.mean() - OF_REAL.mean()),
        (
            "least_squares",
            np.mean((OF_GENERATED - 1) ** 2) / 2,
            np.mean((OF_REAL - 1) ** 2) / 2 + np.mean(OF_GENERATED**2) / 2,
        ),
        # A label that is smoothed by s is 1 - s / 2.
        (
            "modified",
            sigmoid_entropy(OF_GENERATED, 1),
            sigmoid_entropy(OF_REAL, 0.875) + sigmoid_entropy(OF_GENERATED, 0),
        ),
        (
            "minimax",
            -sigmoid_entropy(np.ones(3), 1) - sigmoid_entropy(OF_GENERATED, 0),
            sigmoid_entropy(OF_REAL, 0.875) + sigmoid_entropy(OF_GENERATED, 0),
        ),
    ],
)
def test_losses(kind, of_generator, of_discriminator):
    functions = [
        getattr(gan.losses, f"{kind}_{net}_loss") for net in ("generator", "discriminator")
    ]
    losses = evaluated(lambda: gan.gan_loss(model(), *functions))
    assert losses.generator_loss == pytest.approx(of_generator, rel=1e-5)
    assert losses.discriminator_loss == pytest.approx(of_discriminator + PENALTY, rel=1e-5)


@pytest.mark.parametrize(("one_sided", "penalty"), [(False, (0.5**0.5 - 1) ** 2), (True, 0.0)])
def test_gradient_penalty(one_sided, penalty):
    losses = evaluated(
        lambda: gan.gan_loss(
            model(), gradient_penalty_weight=10.0, gradient_penalty_one_sided=one_sided
        )
    )
    without = OF_GENERATED.mean() - OF_REAL.mean() + PENALTY
    assert losses.discriminator_loss == pytest.approx(without + 10 * penalty, rel=1e-5)


def test_what_is_not_supported_is_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="tensor_pool_fn"):
        gan.gan_loss(model(), tensor_pool_fn=lambda x: x)
    with pytest.raises(MissingNameError, match="tfgan"):
        _ = gan.cyclegan_model


def test_an_update_op_of_nobody_is_an_error():
    with tf.Graph().as_default():
        gan_model = model()
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, tf.identity(1.0, name="stray"))
        sgd = v1.train.GradientDescentOptimizer(0.1)
        with pytest.raises(ValueError, match=r"unused update ops.*stray"):
            gan.gan_train_ops(gan_model, gan.gan_loss(gan_model), sgd, sgd)


@pytest.mark.parametrize("cores", [1, 3])
def test_a_step_of_both_nets_under_an_estimator(cores, tmp_path):
    def model_fn(features, labels, mode, params):
        gan_model = gan.gan_model(generator, discriminator, labels, features)
        loss = gan.gan_loss(gan_model)
        optimizers = [
            v1.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(rate))
            for rate in (0.1, 0.01)
        ]
        ops = gan.gan_train_ops(gan_model, loss, *optimizers)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss.generator_loss, train_op=tf.group(*ops[:3]))

    estimator = eb.tpu.TPUEstimator(
        model_fn,
        model_dir=str(tmp_path),
        config=eb.tpu.RunConfig(master=f"emulated:{cores}"),
        train_batch_size=3,
    )
    estimator.train(
        lambda params: tf.data.Dataset.from_tensor_slices((NOISE, REAL)).batch(
            params["batch_size"], drop_remainder=True
        ),
        steps=1,
    )
    assert estimator.get_variable_value("global_step") == 1
    # Each row's score is half the sum of what the generator made: its weights get -mean(noise) / 2.
    np.testing.assert_allclose(
        estimator.get_variable_value("Generator/dense/kernel"),
        np.ones([1, 2]) + 0.1 * NOISE.mean() / 2,
        rtol=1e-5,
    )
    generated = NOISE @ np.ones([1, 2])
    slope = generated.mean(0) - REAL.mean(0) + 0.2 * 0.5
    np.testing.assert_allclose(
        estimator.get_variable_value("Discriminator/dense/kernel")[:, 0],
        0.5 - 0.01 * slope,
        rtol=1e-5,
    )
