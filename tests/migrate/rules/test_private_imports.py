"""EB020: a private module of TensorFlow that still exists."""

import pytest
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow.compat.v1 as tf\nx = tf.nn.relu\n",
        "from tensorflow.compat.v1 import layers\n",
        "from mine.tensorflow.python import ops\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "from tensorflow.python.ops import array_ops, math_ops\n",
            "this TensorFlow has it, and a later one may remove it",
        ),
        (
            "from tensorflow.core.framework import graph_pb2\n",
            "tensorflow.core.framework.graph_pb2 is private",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB020", "works as is", source, words)
