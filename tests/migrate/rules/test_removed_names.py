"""EB014: a name that no longer exists."""

import pytest
from migrate.rewritten import check_left_alone, check_reported, findings, rewritten


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow.compat.v1 as tf\nx = tf.data.experimental.AUTOTUNE\n",
        "from mine import learn\nlearn.run_experiment()\n",
        "import tensorflow.compat.v1 as tf\ntf.contrib.learn.run_experiment = mine\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "import tensorflow.compat.v1 as tf\ntf.contrib.learn.run_experiment()\n",
            "run_experiment no longer exists. Use tf.estimator.train_and_evaluate",
        ),
        (
            "import tensorflow.compat.v1 as tf\ntf.contrib.mpi_collectives.init(a)\n",
            "MirroredStrategy",
        ),
        ("import tensorflow.compat.v1 as tf\ntf.contrib.tensor_forest.f(a)\n", "package ydf"),
        ("import tensorflow.compat.v1 as tf\ntf.contrib.slim.layers.bucketize(a)\n", "Bucketize"),
        (
            "import tensorflow.compat.v1 as tf\ntf.contrib.learn.DynamicRnnEstimator(a)\n",
            "tf.estimator.experimental.RNNEstimator",
        ),
        ("import tensorflow.compat.v1 as tf\ntf.estimator.BoostedTreesClassifier(a)\n", "ydf"),
        (
            "import tensorflow.compat.v1 as tf\nx = tf.data.experimental.StatsAggregator()\n",
            "tf.profiler.experimental",
        ),
        (
            "import tensorflow as tf\ntf.keras.experimental.PeepholeLSTMCell(4)\n",
            "Write tf.compat.v1.nn.rnn_cell.LSTMCell(units, use_peepholes=True).",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB014", "unavailable", source, words)


def test_the_place_is_that_of_the_use():
    (finding,) = findings(
        "import tensorflow as tf\n\ndef f():\n    tf.contrib.learn.run_experiment()\n", "EB014"
    )
    assert (finding.line, finding.column) == (4, 5)


def test_a_comment_that_begins_with_a_long_name_is_written_once():
    module = "tensorflow_estimator.python.estimator.tpu.tpu_estimator"
    source = f"from {module.rpartition('.')[0]} import tpu_estimator\n"
    source += "if a:\n    if b:\n        x = tpu_estimator.model_fn_inference_on_tpu()\n"
    assert rewritten(source).count("# EB014:") == 1
