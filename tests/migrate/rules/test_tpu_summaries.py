"""EB052: a summary in a TPU's model_fn."""

import pytest
from migrate.model_sources import HEAD, model
from migrate.rewritten import check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        model(
            "loss = 1\ndef host(a):\n    tf.summary.scalar('a', a)", ", host_call=(host, [loss])"
        ),
        model("loss = 1", ", host_call=(lambda a: tf.summary.scalar('a', a), [loss])"),
        f"{HEAD}def model_fn(features):\n    tf.summary.scalar('a', features)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (model("loss = 1\ntf.summary.scalar('a', loss)"), "with the first replica's values"),
        (
            model("loss = 1\ntf.summary.histogram('a', loss)"),
            "tf.summary.histogram in a TPU's model_fn",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB052", "works as is", source, words)
