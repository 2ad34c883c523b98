"""What 1.15.5 says of the names without a case: it lacks them, or they need a TPU.

These cases are recorded, not compared: here the names are there, and run on emulated cores.
"""

import tempfile

import numpy as np
import tensorflow as tf
from goldens.contrib.differences import WITHOUT_A_CASE
from goldens.contrib.observe import Case

__all__ = ["CASES"]


def _looked_up(name):
    def build():
        found = tf.contrib
        for part in name.split("."):
            found = getattr(found, part)

    return build


def _resolver():
    return tf.contrib.cluster_resolver.TPUClusterResolver("")


def _on_a_tpu():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    strategy = tf.contrib.tpu.TPUDistributionStrategy(_resolver())
    made = tf.contrib.tpu.keras_to_tpu_model(model, strategy)
    made.fit(np.zeros([8, 2], np.float32), np.zeros([8, 1], np.float32))


def _model_fn(features, labels, mode, params):
    del params
    weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features["x"] * weight - 1.0))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, {"y": features["x"]}, loss, train_op)


def _input_fn(params):
    rows = {"x": np.zeros([16, 1], np.float32)}
    return (
        tf.data.Dataset.from_tensor_slices((rows, rows["x"]))
        .repeat()
        .batch(params["batch_size"], drop_remainder=True)
    )


def _exported():
    estimator = tf.contrib.tpu.TPUEstimator(
        _model_fn,
        config=tf.contrib.tpu.RunConfig(model_dir=tempfile.mkdtemp()),
        train_batch_size=8,
        use_tpu=False,
    )
    estimator.train(_input_fn, steps=1)
    given = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 1])}
    )
    tf.contrib.tpu.export_estimator_savedmodel(estimator, tempfile.mkdtemp(), given)


_ON_TPUS = {
    "distribute.TPUStrategy": lambda: tf.contrib.distribute.TPUStrategy(_resolver()),
    "tpu.export_estimator_savedmodel": _exported,
    "tpu.keras_to_tpu_model": _on_a_tpu,
}
CASES = {
    "%s: not compared" % name: Case(_ON_TPUS.get(name, _looked_up(name)), has_gradients=False)
    for names in WITHOUT_A_CASE.values()
    for name in names.split()
}
