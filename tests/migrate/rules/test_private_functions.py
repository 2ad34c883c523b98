"""EB022: a function that was removed from a private module."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            (
                "import tensorflow.compat.v1 as tf\n"
                "from tensorflow.python.ops import control_flow_ops as c\ny = c.cond(a, b, d)\n"
            ),
            (
                "import tensorflow.compat.v1 as tf\n"
                "from tensorflow.python.ops import control_flow_ops as c\n"
                "y = tf.cond(a, b, d)\n"
            ),
        ),
        (
            (
                "from tensorflow.python import pywrap_tensorflow as p\n"
                "r = p.NewCheckpointReader(a)\n"
            ),
            (
                "from tensorflow.compat import v1 as tf\n"
                "from tensorflow.python import pywrap_tensorflow as p\n"
                "r = tf.train.NewCheckpointReader(a)\n"
            ),
        ),
        (
            "from tensorflow.python.util import nest\nx = nest.is_sequence(a)\n",
            (
                "from tensorflow.compat import v1 as tf\n"
                "from tensorflow.python.util import nest\nx = tf.nest.is_nested(a)\n"
            ),
        ),
        (
            (
                "import tensorflow as tf\nfrom tensorflow.python import data\n"
                "tf.app.run()\nd = data.Dataset.range(3).make_one_shot_iterator()\n"
            ),
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "tf.disable_v2_behavior()\nfrom tensorflow.python import data\n"
                "tf.app.run()\nd = tf.data.Dataset.range(3).make_one_shot_iterator()\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB022", before, after)


@pytest.mark.parametrize(
    "source",
    [
        "from tensorflow.python.util import nest\nnest.flatten(a)\n",
        "from tensorflow.python.ops import control_flow_ops as c\nc.cond = mine\n",
        "from mine import control_flow_ops as c\nc.cond(a, b, d)\n",
        (
            "import tensorflow.compat.v1 as tf\nfrom tensorflow.python import data\n"
            "data.Dataset.range(3)\n"
        ),
    ],
)
def test_left_alone(source):
    check_left_alone(source, "EB022")
