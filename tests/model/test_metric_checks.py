import pytest
import tensorflow as tf
import tf_keras

from estimator_bridge.model.metric_checks import check_eval_metric_ops

_LOCAL = tf.compat.v1.GraphKeys.LOCAL_VARIABLES
_METRIC = tf.compat.v1.GraphKeys.METRIC_VARIABLES


pytestmark = pytest.mark.usefixtures("graph")


def _run(*pairs):
    """Initializes, runs the updates, and returns the values."""
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.local_variables_initializer())
        session.run([update for _, update in pairs])
        return session.run([value for value, _ in pairs])


def test_pairs_pass_as_they_are():
    metrics = {"mean": tf.compat.v1.metrics.mean([1.0, 2.0])}
    assert check_eval_metric_ops(metrics) == metrics
    assert check_eval_metric_ops(None) == {}


def test_values_may_be_nested():
    one, two = tf.constant(1.0), tf.constant(2.0)
    metrics = {"both": ((one, {"two": two}), tf.no_op())}
    assert check_eval_metric_ops(metrics) == metrics


def test_a_summary_is_a_value():
    summary = tf.compat.v1.summary.scalar("a", tf.constant(1.0))
    assert check_eval_metric_ops({"s": (summary, tf.no_op())})["s"][0] is summary


def test_keras_metrics_become_pairs_that_are_reset():
    mean, auc = tf_keras.metrics.Mean(name="m"), tf_keras.metrics.AUC(name="a")
    mean.update_state([1.0, 2.0])
    auc.update_state([0.0, 1.0], [0.1, 0.9])
    metrics = {"mean": mean, "auc": auc}
    pairs = check_eval_metric_ops(metrics)
    assert metrics == {"mean": mean, "auc": auc}
    for collection in (_LOCAL, _METRIC):
        variables = {id(variable) for variable in tf.compat.v1.get_collection(collection)}
        assert variables == {id(variable) for variable in (*mean.variables, *auc.variables)}
    mean_value, auc_value = _run(pairs["mean"], pairs["auc"])
    assert mean_value == 1.5
    assert auc_value == pytest.approx(1.0, abs=1e-3)


def test_a_keras_metric_given_twice_is_collected_once():
    mean = tf_keras.metrics.Mean()
    mean.update_state([1.0])
    check_eval_metric_ops({"a": mean, "b": mean})
    assert len(tf.compat.v1.get_collection(_LOCAL)) == len(mean.variables)


def test_every_update_of_a_keras_metric_counts():
    mean = tf_keras.metrics.Mean()
    mean.update_state([1.0])
    mean.update_state([4.0])
    assert _run(check_eval_metric_ops({"mean": mean})["mean"]) == [2.5]


def test_a_keras_metric_without_update_is_refused():
    with pytest.raises(ValueError, match=r'call update_state\(...\) on the "m" metric .*\'mean\''):
        check_eval_metric_ops({"mean": tf_keras.metrics.Mean(name="m")})


def test_a_keras_metric_of_another_graph_is_refused():
    with tf.Graph().as_default():
        mean = tf_keras.metrics.Mean()
        mean.update_state([1.0])
    with pytest.raises(ValueError, match=r'eval_metric_ops with "mean: .* default graph'):
        check_eval_metric_ops({"mean": mean})


def test_what_is_no_metric_is_named():
    with pytest.raises(TypeError, match="eval_metric_ops must be a dict, given: 3"):
        check_eval_metric_ops(3)
    for bad in (tf.constant(1.0), [1, 2], (tf.constant(1.0),)):
        with pytest.raises(TypeError, match=r"tuples, given: .* for key: x"):
            check_eval_metric_ops({"x": bad})
    with pytest.raises(TypeError, match=r"must be tensors and operations, given: 0.5 for key: x"):
        check_eval_metric_ops({"x": (0.5, tf.no_op())})
