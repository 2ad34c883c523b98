"""What 1.15.5 says of the names without a case: it lacks them, or they need a TPU.

These cases are recorded, not compared: here the names are there, and run on emulated cores.
"""

import numpy as np
import tensorflow as tf
from contrib_goldens.differences import WITHOUT_A_CASE
from contrib_goldens.observe import Case

__all__ = ["CASES"]


def _looked_up(name):
    def build():
        place = tf.contrib
        for part in name.split("."):
            place = getattr(place, part)

    return build


def _resolver():
    return tf.contrib.cluster_resolver.TPUClusterResolver("")


def _on_a_tpu():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    strategy = tf.contrib.tpu.TPUDistributionStrategy(_resolver())
    tpu_model = tf.contrib.tpu.keras_to_tpu_model(model, strategy)
    tpu_model.fit(np.zeros([8, 2], np.float32), np.zeros([8, 1], np.float32))


_ON_TPUS = {
    "distribute.TPUStrategy": lambda: tf.contrib.distribute.TPUStrategy(_resolver()),
    "tpu.keras_to_tpu_model": _on_a_tpu,
}
CASES = {
    "%s: not compared" % name: Case(_ON_TPUS.get(name, _looked_up(name)), has_gradients=False)
    for names in WITHOUT_A_CASE.values()
    for name in names.split()
}
