"""EB015: a star import of TensorFlow."""

import pytest
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        "from mine import *\n",
        "from math import *\n",
        "import tensorflow.compat.v1 as tf\nx = tf.nn.relu\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from tensorflow import *\n", "all names of tensorflow are imported. Import the names"),
        ("from tensorflow.contrib.slim import *\n", "all names of tensorflow.contrib.slim"),
        ("from tensorflow.compat.v1.nn import *\n", "all names of tensorflow.compat.v1.nn"),
    ],
)
def test_reported(source, words):
    check_reported("EB015", "by hand", source, words)
