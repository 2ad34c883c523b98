"""EB062: a decision based on TensorFlow's version."""

import pytest
from migrate.model_sources import HEAD
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "print(tf.__version__)\nassert tf.__version__ >= '1.4'\n",
        HEAD
        + "from packaging.version import Version\n"
        + "if Version(tf.__version__) < Version('1.12'): pass\n",
        # A program of both TensorFlows.
        "import tensorflow as tf\nif tf.__version__ > '2':\n    tf = tf.compat.v1\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (HEAD + "if tf.__version__ == '1.15.0': pass\n", "tf.__version__ decides here"),
        (HEAD + "if tf.VERSION >= '2.4': pass\n", "tf.VERSION decides here"),
        (HEAD + "assert int(tf.__version__.split('.')[1]) > 3\n", "It is 2.16 or newer"),
    ],
)
def test_reported(source, words):
    check_reported("EB062", "by hand", source, words)
