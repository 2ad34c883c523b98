"""EB013: a name of TensorFlow that this library replaces."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow.compat.v1 as tf\nx = tf.tpu.bfloat16_scope()\n",
        (
            "import tensorflow.compat.v1 as tf\n"
            "x = tf.distribute.cluster_resolver.SimpleClusterResolver\n"
        ),
        (
            "import tensorflow.compat.v1 as tf\ntf.layers.dense(1, 2)\n"
            "tf.flags.DEFINE_string('a', 'b', 'c')\n"
        ),
        "import tensorflow.compat.v1 as tf\ntf.logging.__dict__['INFO']\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import tensorflow.compat.v1 as tf\nx = tf.tpu.rewrite(f)\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.tpu.rewrite(f)\n"
            ),
        ),
        (
            (
                "import tensorflow.compat.v1 as tf\n"
                "x = tf.distribute.cluster_resolver.TPUClusterResolver('')\n"
            ),
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.tpu.TPUClusterResolver('')\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB013", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            (
                "import tensorflow.compat.v1 as tf\n"
                "isinstance(x, tf.distribute.cluster_resolver.TPUClusterResolver)\n"
            ),
            "eb.tpu.TPUClusterResolver is a function",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB013", "by hand", source, words)
