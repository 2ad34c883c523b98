"""EB011: a name of tf.estimator."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    "source",
    [
        "import estimator_bridge as eb\nx = eb.RunConfig()\n",
        "import tensorflow_hub as tf\ntf.estimator.Estimator\n",
        "import tensorflow.compat.v1 as tf\n[tf.estimator for tf in []]\n",
        "import tensorflow.compat.v1 as tf\ntf = load()\ntf.estimator.Estimator\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import tensorflow.compat.v1 as tf\nx = tf.estimator.RunConfig()\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.RunConfig()\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.estimator.DNNClassifier\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.v1.DNNClassifier\n"
            ),
        ),
        (
            "import tensorflow.compat.v2 as tf\nx = tf.estimator.DNNClassifier\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v2 as tf\n"
                "x = eb.DNNClassifier\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.estimator.inputs.numpy_input_fn\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.inputs.numpy_input_fn\n"
            ),
        ),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.estimator.tpu.TPUEstimator\n",
            (
                "import estimator_bridge as eb\nimport tensorflow.compat.v1 as tf\n"
                "x = eb.tpu.TPUEstimator\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB011", before, after)
