import functools

import pytest
import tensorflow as tf

from estimator_bridge.model.host_calls import HostCallHook, call_host_fn, check_host_call

pytestmark = pytest.mark.usefixtures("graph")


def metric_fn(labels, logits):
    return {"labels": labels, "logits": logits}


def _two():
    return [tf.constant([1.0]), tf.constant([2.0])]


@pytest.mark.parametrize("kind", [list, tuple])
def test_tensors_by_position_or_by_name(kind):
    tensors = _two()
    by_position = check_host_call("eval_metrics", kind((metric_fn, kind(tensors))))
    by_name = check_host_call("eval_metrics", (metric_fn, {"logits": 2, "labels": 1}))
    assert call_host_fn(*by_position) == {"labels": tensors[0], "logits": tensors[1]}
    assert call_host_fn(*by_name) == {"labels": 1, "logits": 2}
    assert check_host_call("host_call", None) is None


@pytest.mark.parametrize(
    "fn",
    [
        lambda *tensors: tensors,
        lambda a, b, c=None: (a, b, c),
        functools.partial(lambda scale, a, b: (scale, a, b), 2.0),
        functools.partial(lambda a, b, scale: (scale, a, b), scale=2.0),
    ],
)
def test_any_function_that_the_tensors_fit(fn):
    assert check_host_call("host_call", (fn, _two())) is not None


@pytest.mark.parametrize(
    ("error", "phrase", "make"),
    [
        (ValueError, "eval_metrics should be tuple or list.*got {", lambda: {"accuracy": 1}),
        (ValueError, "eval_metrics should have two elements. Got 1", lambda: (metric_fn,)),
        (TypeError, r"eval_metrics\[0\] should be callable. Got 3", lambda: (3, _two())),
        (ValueError, r"eval_metrics\[1\] should be tuple or list", lambda: (metric_fn, _two()[0])),
        (
            RuntimeError,
            r"length of tensors 1 does not match .*metric_fn\(labels, logits\).*'logits'",
            lambda: (metric_fn, _two()[:1]),
        ),
        (RuntimeError, "too many positional", lambda: (metric_fn, [*_two(), *_two()])),
        (
            TypeError,
            r"tensors \['label', 'logits'\] do not match .*metric_fn\(labels, logits\)",
            lambda: (metric_fn, {"label": 1, "logits": 2}),
        ),
    ],
)
def test_what_does_not_fit_is_named(error, phrase, make):
    with pytest.raises(error, match=phrase):
        check_host_call("eval_metrics", make())


def test_tensors_of_another_graph_are_refused():
    with tf.Graph().as_default():
        tensors = _two()
    with pytest.raises(ValueError, match=r"host_call\[1\] with .* must be from the default graph"):
        check_host_call("host_call", (metric_fn, tensors))


def test_the_hook_runs_its_operations_with_each_step():
    calls = tf.compat.v1.get_variable("calls", [], initializer=tf.zeros_initializer())
    hook = HostCallHook([calls.assign_add(1.0)])
    step = tf.no_op()
    with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(step)
        assert session.run_step_fn(lambda step_context: step_context.session.run(calls)) == 3.0


def test_the_hook_opens_and_flushes_summary_writers(tmp_path):
    step = tf.compat.v1.train.get_or_create_global_step()
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=tf.cast(step, tf.int64)):
        tf.summary.write("loss", tf.constant(7.0))
    hook = HostCallHook(tf.compat.v1.summary.all_v2_summary_ops())
    train_op = step.assign_add(1)
    with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
        session.run(train_op)
    (path,) = tmp_path.iterdir()
    values = [v for e in tf.compat.v1.train.summary_iterator(str(path)) for v in e.summary.value]
    assert [(v.tag, float(tf.make_ndarray(v.tensor))) for v in values] == [("loss", 7.0)]


def test_a_host_call_that_returns_nothing_is_told_what_to_return():
    with pytest.raises(TypeError, match=r"host_call returned None.*all_v2_summary_ops"):
        HostCallHook(None)
