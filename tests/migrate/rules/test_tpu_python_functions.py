"""EB051: a Python function or file access in a step on a TPU."""

import pytest
from migrate.model_sources import HEAD, inputs, model
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        inputs("x = tf.py_func(f, [a], tf.float32)\nreturn x"),
        model("loss = 1\ndef host(a):\n    tf.print(a)", ", host_call=(host, [loss])"),
        model("loss = 1\nif not params['use_tpu']:\n    loss = tf.Print(loss, [loss])"),
        f"{HEAD}def model_fn(features):\n    return tf.py_func(f, [features], tf.float32)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            model("loss = tf.py_func(f, [features], tf.float32)"),
            "tf.py_func cannot run on a TPU.",
        ),
        (
            model("loss = tf.numpy_function(f, [features], tf.float32)"),
            "Compute it in input_fn, or on the host in host_call.",
        ),
        (model("loss = tf.io.read_file(a)"), "tf.io.read_file cannot"),
    ],
)
def test_reported(source, words):
    check_reported("EB051", "by hand", source, words)
