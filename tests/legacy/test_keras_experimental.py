"""What TF1 had in tf.keras.experimental: the thing itself, or an error with what to write."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Each asserts; the first two under `run --tf1`, which gives TF1's behavior.
EXPORT = """
import os, tempfile
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
model.compile("adam", "mse")
folder = os.path.join(tempfile.mkdtemp(), "model")
tf.keras.experimental.export_saved_model(model, folder)
again = tf.keras.experimental.load_from_saved_model(folder)
rows = np.ones([4, 3], "f")
np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
assert sorted(os.listdir(folder)) == ["assets", "saved_model.pb", "variables"]
"""
PATHS = """
import tensorflow as tf
from tensorflow.keras import experimental
from tensorflow.keras.experimental import export_saved_model, load_from_saved_model
from tensorflow.python.keras.saving import saved_model_experimental as private
from tensorflow.python.keras.saving.saved_model import load_from_saved_model as older
from tensorflow.contrib import saved_model

modules = (tf.keras.experimental, experimental, tf.compat.v1.keras.experimental, private)
assert {module.export_saved_model for module in modules} == {export_saved_model}
assert export_saved_model is saved_model.save_keras_model
assert load_from_saved_model is older is saved_model.load_keras_model
assert "export_saved_model" in dir(tf.keras.experimental)
schedule = tf.keras.experimental.LinearCosineDecay(1.0, 10)
assert schedule.get_config()["decay_steps"] == 10
assert not hasattr(tf.keras.experimental, "PeepholeLSTMCell")
assert not hasattr(tf.keras.experimental, "no_name")
try:
    from tensorflow.keras.experimental import PeepholeLSTMCell
except ImportError as error:
    assert "rnn_cell.LSTMCell(units, use_peepholes=True)" in str(error), error
else:
    raise AssertionError
try:
    tf.keras.experimental.terminate_keras_multiprocessing_pools()
except AttributeError as error:
    assert "Leave the call out" in str(error), error
else:
    raise AssertionError
"""
INSTALLED = """
import estimator_bridge
import tensorflow as tf

{}
estimator_bridge.install()
estimator_bridge.install()
from tensorflow.compat.v1.keras.experimental import load_from_saved_model
assert tf.keras.experimental.load_from_saved_model is load_from_saved_model
assert tf.keras.experimental.CosineDecay
"""


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (EXPORT, ["-m", "estimator_bridge", "run", "--tf1"]),
        (PATHS, ["-m", "estimator_bridge", "run", "--tf1"]),
        (INSTALLED.format(""), []),
        (INSTALLED.format("tf.keras.experimental"), []),
    ],
    ids=["export", "paths", "installed", "installed later"],
)
def test_a_program_finds_the_names(source, command, tmp_path):
    (tmp_path / "program.py").write_text(source)
    done = subprocess.run(
        [sys.executable, *command, str(tmp_path / "program.py")],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
