"""keras_to_tpu_model: its errors, and models in graphs of the test's own process."""

import engine
import pytest
import tensorflow as tf

from estimator_bridge.errors import AcceleratorNotFoundError
from estimator_bridge.keras.tpu_strategy import TPUDistributionStrategy
from estimator_bridge.runtime import TPUClusterResolver
from estimator_bridge_contrib import tpu

keras = tf.keras

PROGRAM = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import numpy as np
from estimator_bridge_contrib import tpu
from estimator_bridge.runtime import TPUClusterResolver

strategy = tpu.TPUDistributionStrategy(TPUClusterResolver("emulated:2"))
layers = tf.keras.layers
x = np.random.RandomState(1).rand(12, 2).astype(np.float32)
y = x.sum(1, keepdims=True)
"""


def test_a_tpu_that_is_not_there():
    with pytest.raises(AcceleratorNotFoundError, match="--cores"):
        TPUDistributionStrategy()


def test_models_of_tf2_are_refused():
    strategy = TPUDistributionStrategy(TPUClusterResolver("emulated:1"))
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    with pytest.raises(RuntimeError, match=r"does not support eager mode.*strategy\.scope"):
        tpu.keras_to_tpu_model(model, strategy)


def test_other_strategies_and_unknown_shapes_are_refused():
    strategy = TPUDistributionStrategy(TPUClusterResolver("emulated:1"))
    with tf.Graph().as_default():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
        with pytest.raises(TypeError, match="Got: OneDeviceStrategy"):
            tpu.keras_to_tpu_model(model, tf.distribute.OneDeviceStrategy("/cpu:0"))
        words = keras.layers.Embedding(3, 2, input_length=None, name="words")
        with pytest.raises(ValueError, match=r"'words' has a variable shape.*`input_length`"):
            tpu.keras_to_tpu_model(keras.Sequential([words]), strategy)


def test_batch_normalization_dropout_and_learning_rates():
    lines = engine.run_program(
        PROGRAM
        + """
model = tf.keras.Sequential(
    [
        layers.Dense(1, use_bias=False, kernel_initializer="ones", input_shape=(2,)),
        layers.BatchNormalization(momentum=0.0),
        layers.Dropout(0.5),
    ]
)
model = tpu.keras_to_tpu_model(model, strategy)
model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
model.train_on_batch(x, y)
mean = [half.mean() for half in (y[:6], y[6:])]
variance = [half.var() for half in (y[:6], y[6:])]
moving = model.get_weights()[3:]
print(np.allclose(moving, [[np.mean(mean)], [np.mean(variance)]], rtol=1e-4))
print(np.allclose(model.predict(x), model.predict(x)))
before = model.get_weights()[0]
tf.keras.backend.set_value(model.optimizer.lr, 0.5)
model.train_on_batch(x, y)
print(np.abs(model.get_weights()[0] - before).max() > 1e-3)
"""
    )
    assert lines == ["True"] * 3


def test_states_from_batch_to_batch():
    lines = engine.run_program(
        PROGRAM
        + """
ones = tf.keras.initializers.Ones()
def make():
    inputs = tf.keras.Input(batch_shape=(4, 1, 2))
    lstm = layers.LSTM(1, stateful=True, kernel_initializer=ones, recurrent_initializer=ones)
    return tf.keras.Model(inputs, lstm(inputs))
plain, cores = make(), tpu.keras_to_tpu_model(make(), strategy)
batch = x[:4, None]
for _ in range(2):
    for _ in range(3):
        print(np.allclose(plain.predict(batch), cores.predict(batch), rtol=1e-5))
    plain.reset_states()
    cores.reset_states()
"""
    )
    assert lines == ["True"] * 6
