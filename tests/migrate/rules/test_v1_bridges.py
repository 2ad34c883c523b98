"""EB019: a program that needs the setup of `run`."""

import pytest
from migrate.model_sources import HEAD
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        (
            "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
            "eb.bridge_v1_behavior()\n\ndef f():\n    return tf.Session(master)\n"
        ),
        "import tensorflow.compat.v1 as tf\n\ndef f():\n    return tf.Session('')\n",
        (
            "import tensorflow.compat.v1 as tf\nclass Norm(tf.layers.BatchNormalization):\n"
            "    def _moments(self, inputs, axes, keep_dims, mask):\n        pass\n"
        ),
        (
            "import tensorflow.compat.v1 as tf\n\ndef f(x):\n"
            "    return x.get_shape()[1].value // 2\n"
        ),
        # NumPy's arrays are divided by floats.
        HEAD + "ratio = batch.shape[0] / 1024.0\n",
        HEAD + "from scipy import ndimage\na = ndimage.rotate(b, 3)\nhalf = a.shape[1] / 2\n",
        (
            f"{HEAD}import time\nstart = time.time()\nvalues = session.run(fetches)\n"
            "labels = values['a']\nspeed = labels.shape[0] / (time.time() - start)\n"
        ),
        HEAD + "class A:\n    def f(self):\n        return self.shape[0] / 8\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            (
                "import tensorflow.compat.v1 as tf\n\ndef f():\n"
                "    return tf.Session(target=master)\n"
            ),
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "eb.bridge_v1_behavior()\n\ndef f():\n    return tf.Session(target=master)\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\ntf.Session.reset(master)\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "eb.bridge_v1_behavior()\ntf.Session.reset(master)\n"
            ),
        ),
        (
            (
                "import tensorflow.compat.v1 as tf\nclass Norm(tf.layers.BatchNormalization):\n"
                "    def _moments(self, inputs, axes, keep_dims):\n        pass\n"
            ),
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "eb.bridge_v1_behavior()\nclass Norm(tf.layers.BatchNormalization):\n"
                "    def _moments(self, inputs, axes, keep_dims):\n        pass\n"
            ),
        ),
        (
            (
                "import tensorflow.compat.v1 as tf\n\ndef f(x):\n"
                "    return x.get_shape()[1].value / 2\n"
            ),
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "eb.bridge_v1_behavior()\n\ndef f(x):\n    return x.get_shape()[1].value / 2\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf; x = 1\ns = tf.Session.reset(master)\n",
            (
                "import estimator_bridge as eb\n"
                "import tensorflow.compat.v1 as tf; eb.bridge_v1_behavior(); x = 1\n"
                "s = tf.Session.reset(master)\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\ntf.contrib.tpu.InfeedQueue(1)\n",
            (
                "import estimator_bridge as eb\nfrom estimator_bridge.legacy import contrib\n"
                "import tensorflow.compat.v1 as tf\neb.bridge_v1_behavior()\n"
                "contrib.tpu.InfeedQueue(1)\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB019", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "def f(x):\n    return x.shape[0] / 2\n",
            "Call estimator_bridge.bridge_v1_behavior() before the program's first operation.",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB019", "by hand", source, words)
