"""Shapes with dimensions that a program computed by a division."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.legacy.running.bridges.dimensions import accept_old_dimensions


@pytest.fixture
def bridged():
    dimension = tf.compat.v1.Dimension
    init = dimension.__init__
    accept_old_dimensions()
    accept_old_dimensions()  # to call it again changes nothing
    yield
    dimension.__init__ = init


@pytest.mark.usefixtures("bridged")
@pytest.mark.parametrize("kind", [float, np.float32, np.float64, int, np.int64])
def test_whole_numbers_are_dimensions(kind):
    assert tf.TensorShape([None, kind(3), 2]).as_list() == [None, 3, 2]
    assert tf.compat.v1.Dimension(kind(3)) == 3
    layer = tf.compat.v1.layers.Conv2D(2, 3)
    with tf.Graph().as_default():
        layer.build([None, 8, 8, kind(12) / 4])
        assert layer.kernel.shape.as_list() == [3, 3, 3, 2]


@pytest.mark.usefixtures("bridged")
@pytest.mark.parametrize("value", [2.5, float("nan"), np.float32(0.5)])
def test_other_floats_are_not(value):
    with pytest.raises(TypeError, match="Dimension value must be integer"):
        tf.TensorShape([value])


@pytest.mark.usefixtures("bridged")
def test_a_negative_one_is_not():
    with pytest.raises(ValueError, match="-2 must be >= 0"):
        tf.TensorShape([-2.0])


@pytest.mark.usefixtures("bridged")
@pytest.mark.parametrize("text", ["16", b"16", " 16"])
def test_the_text_of_a_number_is_a_dimension(text):
    """As TensorFlow 1.15.5: a program splits "16,8" and passes the parts to tf.layers.dense."""
    assert tf.TensorShape([None, text]).as_list() == [None, 16]
    with tf.Graph().as_default():
        outputs = tf.compat.v1.get_variable("weights", [2, text])
    assert outputs.shape.as_list() == [2, 16]


@pytest.mark.usefixtures("bridged")
@pytest.mark.parametrize("text", ["1.5", "a", ""])
def test_other_texts_are_not(text):
    with pytest.raises(ValueError, match="invalid literal for int"):
        tf.TensorShape([text])
