"""tf.contrib.eager.metrics in programs of today: eager by default, functions and sessions.

The recorded cases of test_contrib_goldens.py have the numbers of 1.15.5.
"""

import pytest
import tensorflow as tf

from estimator_bridge_contrib.eager import metrics

v1 = tf.compat.v1


class Spread(metrics.Metric):
    """The distance between the largest value and the value before."""

    def build(self, value):
        self.last = self.add_variable("last", [], value.dtype, v1.zeros_initializer())
        self.largest = self.add_variable("largest", [], value.dtype, v1.zeros_initializer())

    def call(self, value):
        self.largest.assign(tf.maximum(self.largest, tf.abs(value - self.last)))
        self.last.assign(value)

    def result(self):
        return self.largest.read_value()


def test_batches_of_an_evaluation():
    loss, accuracy = metrics.Mean("loss"), metrics.SparseAccuracy()
    labels = tf.constant([0, 1, 1])
    scores = tf.constant([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    for _ in range(2):
        loss(tf.constant([1.0, 2.0]))
        accuracy(labels, scores)
    assert (float(loss.result()), loss.value()) == (1.5, loss.result)
    assert float(accuracy.result()) == pytest.approx(2 / 3)
    accuracy.init_variables()
    accuracy(labels[:2], scores[:2])
    assert float(accuracy.result()) == 1.0


def test_a_function_updates_a_metric_that_is_made_in_it():
    metric = metrics.Mean()

    @tf.function
    def step(values):
        metric(values)

    for values in ([1.0, 2.0], [3.0, 6.0]):
        step(tf.constant(values))
    assert float(metric.result()) == 3.0


def test_a_run_makes_the_updates_in_the_order_of_the_program():
    with tf.Graph().as_default(), v1.Session() as session:
        metric = Spread()
        fed = v1.placeholder(tf.float32, [])
        update, start = metric(fed), metric.init_variables()
        result = metric.result()
        session.run(start)
        for value in (2.0, 7.0, 4.0):
            session.run(update, {fed: value})
        assert session.run(result) == 5.0
        session.run(start)
        assert session.run(result) == 0.0
        assert [each.op.name for each in v1.local_variables()] == ["Spread/last", "Spread/largest"]


def test_a_tensor_decides_on_the_summary_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as session:
        metric = metrics.Mean()
        update, decide = metric(tf.constant([2.0, 4.0])), v1.placeholder(tf.bool, [])
        result = metric.result(write_summary=decide)
        session.run(metric.init_variables())
        session.run(update)
        assert session.run(result, {decide: False}) == 3.0


def test_a_wrong_shape_says_so_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as session:
        metric, fed = metrics.Accuracy(), v1.placeholder(tf.int32, [None])
        update = metric(fed, tf.constant([1, 2]))
        session.run(metric.init_variables())
        session.run(update, {fed: [1, 2]})
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"predictions are unequal|Incompatible shapes"
        ):
            session.run(update, {fed: [1, 2, 3]})


def test_errors_say_what_to_do():
    class Empty(metrics.Metric):
        """Lacks everything."""

    with pytest.raises(NotImplementedError, match=r"a build.* add one to Empty that makes"):
        Empty()(1.0)
    metric = metrics.Mean("loss")
    metric(1.0)
    with pytest.raises(RuntimeError, match=r"'loss' is built. Make the variable 'v' in its build"):
        metric.add_variable("v", shape=[])
    other = metrics.Mean("other")
    other(1.0)
    with pytest.raises(ValueError, match="same order: got other/numer:0 for loss/numer:0"):
        metric.aggregate([other])
    assert float(metric.denom) == 1.0
