"""EB054: a possibly short last batch in a TPU's training."""

import pytest
from migrate.model_sources import inputs
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        inputs("return data.batch(params['batch_size'], drop_remainder=is_training)"),
        inputs("return data.batch(params['batch_size'], True)"),
        # Not for training.
        inputs("return data.batch(params['batch_size'])", name="eval_input_fn"),
        inputs("return data.batch(params['batch_size'])", name="input_fn"),
        # The shape is set otherwise.
        inputs("return data.batch(params['batch_size']).map(lambda x: x.set_shape([8]))"),
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (inputs("return data.batch(params['batch_size'])"), "gives batches of unknown size"),
        (
            inputs("return data.shuffle(9).batch(params.batch_size)", name="input_fn"),
            "Give it drop_remainder=True",
        ),
        (
            inputs("return data.padded_batch(params['batch_size'], shapes)"),
            "padded_batch(...) gives",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB054", "by hand", source, words)
