"""EB017: a name that is not in TensorFlow's public API."""

import pytest
from migrate.rewritten import check_left_alone, check_reported, findings


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow.compat.v1 as tf\nx = tf.nn.relu(tf.keras.layers.Anything)\n",
        "import tensorflow.compat.v1 as tf\ntf.mine = 1\n",
        "import tensorflow as tf\ntf.compat.v2.enable_v2_behavior()\n",
        "import mine as tf\ntf.wrong\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import tensorflow.compat.v1 as tf\ntf.mul(a, b)\n", "write tf.multiply."),
        (
            "import tensorflow.compat.v1 as tf\ntf.train.SummaryWriter(a)\n",
            "tf.summary.FileWriter.",
        ),
        ("import tensorflow.compat.v1 as tf\ntf.wrong(a, b)\n", "Look for what took its place."),
    ],
)
def test_reported(source, words):
    check_reported("EB017", "by hand", source, words)


def test_a_name_of_compat_v2_is_shown_so():
    source = "import tensorflow as tf\ntf.contrib\ntf.compat.v2.image.resize_images(a)\n"
    (finding,) = findings(source, "EB017")
    assert finding.message.startswith("tf.compat.v2.image.resize_images is not")
