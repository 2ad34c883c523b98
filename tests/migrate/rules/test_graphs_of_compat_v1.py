"""EB018: a program of `tensorflow.compat.v1` that relies on graph mode."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    "source",
    [
        (
            "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n\n"
            "if __name__ == '__main__':\n    with tf.Session() as session:\n        pass\n"
        ),
        # Not a program: its main module chooses.
        (
            "import tensorflow.compat.v1 as tf\n\ndef f():\n    with tf.Session() as session:\n"
            "        pass\n"
        ),
        # Nothing needs graph mode.
        "import tensorflow.compat.v1 as tf\n\nif __name__ == '__main__':\n    tf.app.run()\n",
        (
            "import mine as tf\n\nif __name__ == '__main__':\n"
            "    with tf.Session() as session:\n        pass\n"
        ),
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            (
                "import tensorflow.compat.v1 as tf\n\nif __name__ == '__main__':\n"
                "    with tf.Session() as session:\n        pass\n"
            ),
            (
                "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n\n"
                "if __name__ == '__main__':\n    with tf.Session() as session:\n        pass\n"
            ),
        ),
        (
            (
                "import tensorflow.compat.v1 as tf  # TF1\r\n\r\nif __name__ == '__main__':\r\n"
                "    print(x.get_shape()[0].value)\r\n"
            ),
            (
                "import tensorflow.compat.v1 as tf  # TF1\r\ntf.disable_v2_behavior()\r\n\r\n"
                "if __name__ == '__main__':\r\n    print(x.get_shape()[0].value)\r\n"
            ),
        ),
        (
            (
                "import tensorflow.compat.v1 as tf; x = f(1)\n\n"
                "if __name__ == '__main__':\n    with tf.Session() as session:\n        pass\n"
            ),
            (
                "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); x = f(1)\n\n"
                "if __name__ == '__main__':\n    with tf.Session() as session:\n        pass\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB018", before, after)
