"""The truth value of variables, which TF1 programs use to test for their existence."""

import pytest
import tensorflow as tf

from estimator_bridge.legacy.tf1 import variable_truth


@pytest.fixture
def true_variables(monkeypatch):
    kind = variable_truth.BaseResourceVariable
    monkeypatch.setattr(kind, "__bool__", kind.__bool__)
    variable_truth.make_variables_truthy()


@pytest.mark.usefixtures("true_variables")
def test_in_a_graph_a_variable_is_there():
    with tf.Graph().as_default():
        zero = tf.compat.v1.get_variable("v", initializer=0.0, use_resource=True)
        average = tf.train.ExponentialMovingAverage(0.9).average(zero)
        assert zero
        assert (average if average else zero) is zero


@pytest.mark.usefixtures("true_variables")
def test_where_it_has_a_value_that_decides():
    assert not tf.Variable(0)
    assert tf.Variable(3)

    @tf.function(autograph=False)
    def ask(variable):
        return 1 if variable else 2

    with pytest.raises(TypeError, match="bool"):
        ask(tf.Variable(3))
