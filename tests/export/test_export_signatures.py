"""The signatures that a SavedModel gets, and those that are left out."""

import pytest
import tensorflow as tf

from estimator_bridge.export import (
    ClassificationOutput,
    EvalOutput,
    PredictOutput,
    RegressionOutput,
    build_parsing_serving_input_receiver_fn,
)
from estimator_bridge.export.signatures import build_signatures
from estimator_bridge.export.supervised_outputs import TrainOutput
from estimator_bridge.model import cross_replica_sum

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _in_a_graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def x():
    return v1.placeholder(tf.float32, [None, 2], name="x")


@pytest.fixture
def text():
    return v1.placeholder(tf.string, [None], name="text")


def described(signature):
    return {k: i.name for k, i in signature.inputs.items()}, {
        k: i.name for k, i in signature.outputs.items()
    }


def test_classes_and_values_are_served_from_one_string_tensor_only(x, text, caplog):
    scores = tf.cast(tf.strings.length(text), tf.float32)
    outputs = {
        "c": ClassificationOutput(scores),
        "r": RegressionOutput(scores),
        "p": PredictOutput({"s": scores}),
    }
    assert sorted(build_signatures({"t": text}, outputs)) == ["c", "p", "r"]
    assert sorted(build_signatures({"t": text, "x": x}, outputs)) == ["p"]
    assert "can only accept a single tensor input of type tf.string" in caplog.text
    assert "no default signature" in caplog.text


def test_names_of_outputs_and_alternatives(x, text):
    y = PredictOutput(x * 2)
    got = build_signatures({"x": x}, {None: y, "two": y}, {"": {"a": x}, "b": {"a": x}})
    assert set(got) == {"None", "two", "None:None", "None:two", "b:None", "b:two"}
    assert described(got["b:two"]) == ({"a": "x:0"}, {"output": "mul:0"})


def test_an_alternative_has_to_feed_all_that_is_needed(caplog):
    """Two features of one parsing operation; feeding one of them leaves the other to be parsed."""
    spec = {name: tf.io.FixedLenFeature([], tf.float32) for name in ("a", "b")}
    receiver = build_parsing_serving_input_receiver_fn(spec)()
    a, b = receiver.features["a"], receiver.features["b"]
    outputs = {"sum": PredictOutput(a + b), "a": PredictOutput(a * 2)}
    alternatives = {"both": {"a": a, "b": b}, "a": {"a": a}}
    got = build_signatures(receiver.receiver_tensors, outputs, alternatives)
    assert set(got) == {"sum", "a", "both:sum", "both:a", "a:a"}
    assert "'a:sum' is left out" in caplog.text
    assert "need the placeholders ['input_example_tensor']" in caplog.text


def test_an_output_may_wait_for_a_fed_placeholder(x, caplog):
    with tf.control_dependencies([x]):
        output = PredictOutput(tf.constant(1.0))
    assert set(build_signatures({"x": x}, {"y": output})) == {"y"}
    assert "is left out" not in caplog.text


def test_a_model_that_nothing_can_serve_is_exported_with_a_warning(x, caplog):
    assert build_signatures({"x": x}, {"c": ClassificationOutput(x)}) == {}
    assert "Export includes no signatures!" in caplog.text


def test_sparse_and_ragged_tensors_in_and_out(x):
    sparse = v1.sparse_placeholder(tf.float32, [None, 2])
    ragged = v1.ragged.placeholder(tf.int64, 1, [])
    outputs = PredictOutput({"s": tf.sparse.add(sparse, x), "r": ragged + 1, "z": sparse * 2.0})
    fed = {"x": x, "s": sparse, "r": ragged}
    (signature,) = build_signatures(fed, {"serving_default": outputs}).values()
    kinds = {name: info.WhichOneof("encoding") for name, info in signature.outputs.items()}
    assert kinds == {"s": "name", "r": "composite_tensor", "z": "coo_sparse"}
    assert signature.inputs["r"].WhichOneof("encoding") == "composite_tensor"
    del fed["r"]
    assert build_signatures(fed, {"serving_default": outputs}) == {}  # it has to be fed


def _py_function(x):
    return tf.py_function(lambda value: value, [x], tf.float32)


def _numpy_function(x):
    return tf.numpy_function(lambda value: value, [x], tf.float32)


def _py_func(x):
    return v1.py_func(lambda value: value, [x], tf.float32)


def _in_a_branch(x):
    with_python = tf.function(lambda: _numpy_function(x))
    return tf.cond(tf.reduce_sum(x) > 0, with_python, lambda: x)


@pytest.mark.parametrize("python", [_py_function, _numpy_function, _py_func, _in_a_branch])
def test_python_cannot_be_served(python, x, caplog):
    y = PredictOutput(python(x))
    with pytest.raises(ValueError, match=r"nothing that can be run. 'y': it needs .*call Python"):
        build_signatures({"x": x}, {"y": y})
    assert list(build_signatures({"x": x}, {"y": y, "z": PredictOutput(x)})) == ["z"]
    assert "'y' is left out" in caplog.text


def test_sums_over_several_cores_cannot_be_served(x):
    y = PredictOutput(v1.tpu.cross_replica_sum(x, [[0, 1]]))
    with pytest.raises(ValueError, match=r"CrossReplicaSum.*An export runs on one replica"):
        build_signatures({"x": x}, {"y": y})
    for sum_of_one in (v1.tpu.cross_replica_sum, cross_replica_sum):
        assert list(build_signatures({"x": x}, {"y": PredictOutput(sum_of_one(x))})) == ["y"]


def test_an_evaluation_may_call_python_where_it_was_exported(x, caplog):
    output = EvalOutput(loss=tf.reduce_sum(_numpy_function(x)))
    assert list(build_signatures({"x": x}, {"eval": output}, serving_only=False)) == ["eval"]
    assert "not run elsewhere" in caplog.text


def test_outputs_of_a_step_are_named_by_their_kind(x):
    value, update = v1.metrics.mean(x)
    output = EvalOutput(
        loss={"loss_a": tf.reduce_sum(x), ("b", "c"): tf.reduce_sum(x)},
        predictions=x,
        metrics={"mean": (value, update), ("a", "metrics"): (value, tf.no_op())},
    )
    assert sorted(output.loss) == ["loss/b/c", "loss_a"]
    assert output.predictions == {"predictions": x}
    assert output.metrics["metrics/mean/update_op"] is update
    assert output.metrics["metrics/a/metrics/update_op"].op.name == "metric_op_wrapper"
    one = TrainOutput(tf.reduce_sum(x), metrics=(value, update))
    assert sorted(one.metrics) == ["metrics/update_op", "metrics/value"]
    assert one.predictions is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": 3}, r"loss output value must be a Tensor; got 3"),
        ({"loss": {3: 3}}, r"loss output key must be a string; got 3"),
        ({"predictions": {"a": "b"}}, r"predictions output value must be a Tensor; got 'b'"),
        ({"metrics": {"a": (3, 4)}}, r"metrics/a output value must be a Tensor; got 3"),
        ({"metrics": {"a": 3}}, r"metrics/a must be a \(value, update_op\) pair.*got 3"),
    ],
)
def test_what_is_no_output_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        EvalOutput(**arguments)


def test_an_update_is_an_operation(x):
    with pytest.raises(ValueError, match="metrics/a update_op must be a Tensor or Operation"):
        EvalOutput(metrics={"a": (x, "update")})


def test_a_step_has_to_be_fed(x):
    with pytest.raises(ValueError, match="training `inputs` cannot be None or empty"):
        TrainOutput(x).as_signature_def({})
