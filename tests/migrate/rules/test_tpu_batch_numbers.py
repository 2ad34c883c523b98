"""EB053: a constant batch size in a TPU's input."""

import pytest
from migrate.model_sources import HEAD, inputs
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        inputs("return data.batch(1)", name="input_fn"),
        inputs("return data.batch(32)", arguments=""),
        inputs("return data.batch(32).batch(params['batch_size'], True)"),
        HEAD + "def train_input_fn(params):\n    return data.batch(32)\n",
        inputs("return data.batch(size, drop_remainder=True)"),
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            inputs("return tf.data.Dataset.range(9).batch(32)"),
            "batch(32) is not the size that TPUEstimator asks for",
        ),
        (
            inputs("return data.batch(batch_size=32, drop_remainder=True)"),
            'Write batch(params["batch_size"], drop_remainder=True).',
        ),
        (inputs("return data.map_and_batch(f, 8)"), "map_and_batch(8)"),
    ],
)
def test_reported(source, words):
    check_reported("EB053", "by hand", source, words)
