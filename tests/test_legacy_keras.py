"""TensorFlow's Keras names are Keras 2, whichever was imported first.

Each program runs in a process of its own, as the order of imports is what is tested.
"""

import json
import os
import subprocess
import sys

import pytest

# What old programs write, by attribute and by import statement: all must come from tf_keras.
REPORT = """
import json
import tensorflow as tf
parts = {
    "tf.keras": tf.keras.layers.Dense, "tf.losses": tf.losses.Huber, "tf.metrics": tf.metrics.Mean,
    "tf.optimizers": tf.optimizers.SGD, "tf.initializers": tf.initializers.HeNormal,
    "v1.keras": tf.compat.v1.keras.layers.Dense, "v1.layers": tf.compat.v1.layers.dense,
    "v2.keras": tf.compat.v2.keras.layers.Dense, "v2.losses": tf.compat.v2.losses.Huber,
}
with tf.Graph().as_default():  # a layer is usable, not just there
    width = int(tf.compat.v1.layers.dense(tf.ones([2, 3]), 4).shape[1])
from tensorflow.keras.layers import Dense; parts["import keras.layers"] = Dense
from tensorflow.compat.v1.keras.layers import Dense; parts["import v1.keras.layers"] = Dense
from tensorflow.compat.v1.layers import dense; parts["import v1.layers"] = dense
from tensorflow.compat.v1 import layers; parts["from v1"] = layers.dense
import tensorflow.keras.models as models; parts["import keras.models"] = models.Model
wrong = {name: thing.__module__ for name, thing in parts.items()
         if thing.__module__.partition(".")[0] != "tf_keras"}
print(json.dumps({"wrong": wrong, "width": width, "warned": [str(w.message) for w in caught]}))
"""


def run(before, switch=None):
    """Runs `before`, with estimator_bridge imported under `caught` warnings, then the report."""
    environ = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    if switch is not None:
        environ["TF_USE_LEGACY_KERAS"] = switch
    bridge = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always', UserWarning)\n"
        "    import estimator_bridge\n"
        "caught = [w for w in caught if 'estimator_bridge' in str(w.message)]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", before + "\n" + bridge + REPORT],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "before", ["", "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()"]
)
def test_keras_2_without_a_warning_in_either_order(before):
    assert run(before) == {"wrong": {}, "width": 4, "warned": []}


def test_keras_3_in_use_before_is_replaced_and_told():
    before = """
import tensorflow as tf
from tensorflow.keras.layers import Dense
tf.keras.layers.Dense, tf.losses.Huber
try:
    tf.compat.v1.layers.dense
except AttributeError:
    refused = True
assert refused  # Keras 3 has no such thing
"""
    report = run(before)
    assert (report["wrong"], report["width"]) == ({}, 4)
    (warning,) = report["warned"]
    for name in ("tf.keras", "tf.losses", "tf.compat.v1.layers", "tensorflow.keras"):
        assert name in warning
    assert "Move `import estimator_bridge` above" in warning


def test_a_switch_that_says_no_is_overridden_and_told():
    report = run("", switch="0")
    assert report["wrong"] == {}
    (warning,) = report["warned"]
    assert "TF_USE_LEGACY_KERAS=0" in warning
