# ruff: noqa: E501 - a case is a line
"""Names are followed through imports, aliases and scopes; others are left alone."""

from __future__ import annotations

import pytest
from migrate.rewritten import check_left_alone, rewritten

from estimator_bridge.legacy.running.dialects import Dialect


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import tensorflow as tf\nx = tf.contrib.tpu.TPUConfig()", "eb.tpu.TPUConfig()"),
        ("import tensorflow\nx = tensorflow.contrib.tpu.TPUConfig()", "eb.tpu.TPUConfig()"),
        ("import tensorflow.compat.v1 as tf\nx = tf.estimator.RunConfig()", "eb.RunConfig()"),
        (
            "import tensorflow as tf\nx = tf.compat.v1.estimator.DNNClassifier",
            "eb.v1.DNNClassifier",
        ),
        (
            "import tensorflow as tf\ntf.compat.v1.x\nx = tf.estimator.DNNClassifier",
            "eb.DNNClassifier",
        ),
        (
            "import tensorflow as tf\ntf = tf.compat.v1\nx = tf.estimator.Estimator",
            "eb.v1.Estimator",
        ),
        (
            "try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n"
            "  import tensorflow as tf\nx = tf.estimator.DNNClassifier",
            "eb.v1.DNNClassifier",
        ),
        ("import tensorflow as tf\nlayers = tf.contrib.layers", "contrib.layers"),
        ("import tensorflow as tf\nx = tf.contrib.rnn.GRUCell(1)", "tf.nn.rnn_cell.GRUCell(1)"),
        ("import tensorflow as t\nx = t.contrib.rnn.GRUCell(1)", "t.nn.rnn_cell.GRUCell(1)"),
        ("import tensorflow.contrib.slim as s\nx = s.layers.conv2d", "s.layers.conv2d"),
        (
            "import tensorflow as tf\nx = tf.contrib.slim.initializers.xavier_initializer()",
            "contrib.layers.xavier_initializer()",
        ),
        (
            "from tensorflow.examples.tutorials.mnist import input_data\n"
            "x = input_data.read_data_sets(a)",
            "read_data_sets(a)",
        ),
    ],
)
def test_a_name_is_found_by_every_way_to_it(before, after):
    assert rewritten(before).rstrip().endswith(f"= {after}")


@pytest.mark.parametrize(
    "source",
    [
        "def f(tf):\n    return tf.contrib.tpu.TPUConfig()",
        "import numpy as tf\ntf.contrib.layers.conv2d",
        "import tensorflow_hub as tf\ntf.estimator.Estimator",
        "from mine import tf\ntf.contrib.layers.conv2d",
        "import tensorflow.compat.v1 as tf\n[tf.estimator for tf in []]",
        "import tensorflow.compat.v1 as tf\ntf.logging.__dict__['INFO']",
        "class A:\n    tf = 1\ntf.contrib.layers",
        "import tensorflow.compat.v1 as tf\ntf = load()\ntf.estimator.Estimator",
        "xrange = range\nxrange(3)",
    ],
)
def test_other_names_are_left_alone(source):
    check_left_alone(source)


def test_a_variable_of_a_function_is_not_that_of_the_module():
    source = """\
        import tensorflow as tf

        def mine(tf):
            return tf.contrib.layers

        class Model:
            def __init__(self):
                self.rate = tf.contrib.training.HParams(rate=1)
    """
    text = rewritten(source)
    assert "return tf.contrib.layers" in text
    assert "self.rate = contrib.training.HParams(rate=1)" in text


def test_inserted_variables_do_not_take_a_name_of_the_module():
    source = (
        "import tensorflow as tf\neb = 1\ndef f(contrib):\n    return tf.contrib.layers.conv2d\n"
    )
    text = rewritten(source)
    assert "from estimator_bridge.legacy import contrib as tf_contrib\n" in text
    assert "return tf_contrib.layers.conv2d" in text
    text = rewritten("import tensorflow as tf\neb = tf.contrib.tpu.TPUConfig\n")
    assert text.startswith("import estimator_bridge\nimport tensorflow.compat.v1 as tf\n")
    assert text.endswith("eb = estimator_bridge.tpu.TPUConfig\n")


def test_a_variable_of_the_library_that_is_there_is_used():
    source = "import estimator_bridge as bridge\nimport tensorflow as tf\nx = tf.contrib.tpu.TPUConfig()\n"
    after = "import estimator_bridge as bridge\nimport tensorflow.compat.v1 as tf\nx = bridge.tpu.TPUConfig()\n"
    assert rewritten(source) == after


def test_a_source_that_fits_both_means_what_it_is_told():
    source = "import tensorflow as tf\nx = tf.estimator.LinearClassifier\n"
    assert rewritten(source, dialect=Dialect.TF2).endswith("x = eb.LinearClassifier\n")
    assert rewritten(source, dialect=Dialect.TF1).endswith("x = eb.v1.LinearClassifier\n")


def test_formatting_comments_and_line_ends_stay():
    source = (
        "# first\r\nimport tensorflow  as  tf # tf\r\n\r\n"
        "x = ( tf . contrib . tpu\r\n  . TPUConfig( 'ä', # why\r\n 2 ) )\r\n"
    )
    text = rewritten(source)
    assert text == (
        "# first\r\nimport estimator_bridge as eb\r\nimport tensorflow.compat.v1 as tf # tf\r\n\r\n"
        "x = ( eb.tpu.TPUConfig( 'ä', # why\r\n 2 ) )\r\n"
    )
