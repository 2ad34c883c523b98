"""EB010: `import tensorflow` that means TensorFlow 1."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, findings


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\nx = tf.function\n",
        "import tensorflow as tf\nx = tf.reduce_sum\n",
        "import tensorflow.compat.v1 as tf\nx = tf.get_variable\n",
        "import mine as tf\nx = tf.get_variable\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import tensorflow as tf\nx = tf.get_variable\n",
            "import tensorflow.compat.v1 as tf\nx = tf.get_variable\n",
        ),
        (
            "import tensorflow\nx = tensorflow.get_variable\n",
            "import tensorflow.compat.v1 as tensorflow\nx = tensorflow.get_variable\n",
        ),
        (
            "import tensorflow as tf, os\nx = tf.get_variable\n",
            "import tensorflow.compat.v1 as tf, os\nx = tf.get_variable\n",
        ),
        (
            "def f():\n    import tensorflow as tf\n    tf.get_variable('a', [])\n",
            "def f():\n    import tensorflow.compat.v1 as tf\n    tf.get_variable('a', [])\n",
        ),
        # This library first, for Keras 2.
        (
            "import tensorflow as tf\nx = tf.layers.dense\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = tf.layers.dense\n"
            ),
        ),
        # A program's main module also selects graph mode, unless it does already.
        (
            "import tensorflow as tf\n\nif __name__ == '__main__':\n    tf.app.run()\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "tf.disable_v2_behavior()\n\nif __name__ == '__main__':\n    tf.app.run()\n"
            ),
        ),
        (
            "import tensorflow as tf; a = 1\n\nif __name__ == '__main__':\n    tf.app.run()\n",
            (
                "import estimator_bridge as eb\n"
                "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); a = 1\n\n"
                "if __name__ == '__main__':\n    tf.app.run()\n"
            ),
        ),
        (
            (
                "import tensorflow as tf\ntf.disable_v2_behavior()\n\n"
                "if __name__ == '__main__':\n    tf.app.run()\n"
            ),
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "tf.disable_v2_behavior()\n\nif __name__ == '__main__':\n    tf.app.run()\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB010", before, after)


def test_a_package_named_tf2_is_none_of_tensorflow():
    source = "import tensorflow as tf\nfrom tf2 import anchors\nanchors.Anchors()\ntf.train.Saver\n"
    assert {finding.rule for finding in findings(source)} == {"EB010"}
