"""What train.py and predict.py leave out of TensorFlow's messages, and what they do not."""

import logging
import warnings

import pytest
import tensorflow as tf

from models.common.notices import hide_tensorflow_notices

v1 = tf.compat.v1
DEPRECATED = "`tf.layers.dense` is deprecated"


@pytest.fixture
def level():
    """TensorFlow's level of logging, which the function sets, as it was."""
    logger = logging.getLogger("tensorflow")
    before = logger.level
    yield
    logger.setLevel(before)


def messages(monkeypatch, wanted_level):
    """The warnings of a layer of TensorFlow 1, and of a program's own."""
    if wanted_level is None:
        monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    else:
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", wanted_level)
    with warnings.catch_warnings(record=True) as caught, tf.Graph().as_default():
        warnings.simplefilter("always")
        hide_tensorflow_notices()
        v1.layers.dense(tf.zeros([1, 2]), 1)
        warnings.warn("of a program", UserWarning, stacklevel=1)
    return [str(one.message) for one in caught]


@pytest.mark.usefixtures("level")
def test_layers_of_tensorflow_1_are_not_called_deprecated(monkeypatch):
    assert messages(monkeypatch, None) == ["of a program"]


@pytest.mark.usefixtures("level")
def test_whoever_chose_a_level_sees_it(monkeypatch):
    texts = messages(monkeypatch, "0")
    assert any(DEPRECATED in one for one in texts)
    assert texts[-1] == "of a program"
