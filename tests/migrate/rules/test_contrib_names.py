"""EB012: a name of tf.contrib with a replacement."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        "from mine import contrib\ncontrib.layers.conv2d(a)\n",
        "import tensorflow.compat.v1 as tf\nx = tf.nn.rnn_cell.GRUCell(1)\n",
        "import numpy as tf\ntf.contrib.layers.conv2d\n",
        "def f(tf):\n    return tf.contrib.tpu.TPUConfig()\n",
        "class A:\n    tf = 1\ntf.contrib.layers\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import tensorflow.compat.v1 as tf\nx = tf.contrib.rnn.GRUCell(1)\n",
            "import tensorflow.compat.v1 as tf\nx = tf.nn.rnn_cell.GRUCell(1)\n",
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.contrib.tpu.TPUConfig()\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.tpu.TPUConfig()\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.contrib.layers.flatten(a)\n",
            (
                "from estimator_bridge.legacy import contrib\n"
                "import tensorflow.compat.v1 as tf\nx = contrib.layers.flatten(a)\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.contrib.layers\n",
            (
                "from estimator_bridge.legacy import contrib\n"
                "import tensorflow.compat.v1 as tf\nx = contrib.layers\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB012", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "import tensorflow.compat.v1 as tf\ntf.contrib.layers.conv2d = mine\n",
            "set it on contrib.layers.conv2d, and check that the caller uses that.",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB012", "by hand", source, words)
