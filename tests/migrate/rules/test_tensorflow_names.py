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
        "import tensorflow as tf\nx = tf.keras.experimental.CosineDecay\n",
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
        (
            "import tensorflow as tf\ntf.keras.experimental.export_saved_model(model, 'm')\n",
            (
                "from estimator_bridge.legacy.contrib.saved_model import save_keras_model\n"
                "import tensorflow as tf\n"
                "save_keras_model(model, 'm')\n"
            ),
        ),
        (
            (
                "from tensorflow.keras import experimental as e\n"
                "e.load_from_saved_model('m').predict(x)\n"
            ),
            (
                "from estimator_bridge.legacy.contrib.saved_model import load_keras_model\n"
                "from tensorflow.keras import experimental as e\n"
                "load_keras_model('m').predict(x)\n"
            ),
        ),
        (
            "import tensorflow as tf\nx = tf.keras.experimental.LinearCosineDecay(0.1, 9)\n",
            (
                "from tf_keras.src.optimizers.schedules.learning_rate_schedule"
                " import LinearCosineDecay\n"
                "import tensorflow as tf\n"
                "x = LinearCosineDecay(0.1, 9)\n"
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
