"""tf.contrib.predictor: exported models and estimators, called with arrays."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import learn, predictor

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def model_fn(features, labels, mode, params):
    weights = v1.get_variable("weights", initializer=tf.constant([[1.0], [10.0]]))
    outputs = tf.matmul(features["x"], weights) + features.get("offset", 0.0)
    if mode == eb.ModeKeys.PREDICT:
        exports = {
            "serving_default": eb.export.PredictOutput({"y": outputs, "twice": 2 * outputs}),
            "negative": eb.export.PredictOutput({"y": -outputs}),
        }
        predictions = {"y": outputs}
        return eb.tpu.TPUEstimatorSpec(mode, predictions=predictions, export_outputs=exports)
    step = v1.assign_add(v1.train.get_global_step(), 1)
    train_op = tf.group(v1.assign(weights, [[2.0], [20.0]]), step)
    return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_sum(outputs), train_op=train_op)


def receivers():
    x = v1.placeholder(tf.float32, [None, 2], "x")
    offset = v1.placeholder_with_default(0.0, [], "offset")
    features = {"x": x, "offset": offset}
    return eb.export.ServingInputReceiver(features, dict(features))


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
    config = eb.tpu.RunConfig(model_dir=str(tmp_path_factory.mktemp("model")))
    trained = eb.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=3)
    return trained.train(lambda params: tf.data.Dataset.from_tensors({"x": X}), steps=1)


@pytest.fixture(scope="module")
def exported(estimator, tmp_path_factory):
    return estimator.export_saved_model(str(tmp_path_factory.mktemp("exported")), receivers)


EXPECTED = X @ [[2.0], [20.0]]


@pytest.mark.parametrize("source", ["saved model", "estimator"])
def test_a_predictor_is_a_function_of_arrays(source, estimator, exported):
    if source == "estimator":
        predict = predictor.from_estimator(estimator, receivers)
    else:
        predict = predictor.from_saved_model(exported)
    for _ in range(2):
        got = predict({"x": X})
        assert set(got) == {"y", "twice"}
        np.testing.assert_allclose(got["y"], EXPECTED)
        np.testing.assert_allclose(got["twice"], 2 * EXPECTED)
    np.testing.assert_allclose(predict({"x": X, "offset": 1.0})["y"], EXPECTED + 1)
    np.testing.assert_allclose(predict({"x": X, "offset": None})["y"], EXPECTED)
    assert set(predict.feed_tensors) == {"x", "offset"} and set(predict.fetch_tensors) == set(got)
    assert predict.graph is predict.feed_tensors["x"].graph
    assert "'y'" in repr(predict)
    with pytest.raises(ValueError, match=r"Got unexpected keys in input_dict: {'z'}"):
        predict({"x": X, "z": 1})
    predict.session.close()


def test_which_output(estimator, exported):
    other = predictor.from_estimator(estimator, receivers, output_key="negative")
    np.testing.assert_allclose(other({"x": X})["y"], -EXPECTED)
    other = predictor.from_saved_model(tf.compat.as_str(exported), signature_def_key="negative")
    np.testing.assert_allclose(other({"x": X})["y"], -EXPECTED)
    with pytest.raises(KeyError, match="output_key must be one of"):
        predictor.from_estimator(estimator, receivers, output_key="nothing")
    with pytest.raises(ValueError, match=r'Got signature_def_key "nothing". Available'):
        predictor.from_saved_model(exported, signature_def_key="nothing")


def test_inputs_and_outputs_by_tensor_names(exported):
    by_keys = predictor.from_saved_model(exported)
    inputs = {"features": by_keys.feed_tensors["x"].name}
    outputs = {"result": by_keys.fetch_tensors["twice"].name}
    by_name = predictor.from_saved_model(exported, input_names=inputs, output_names=outputs)
    np.testing.assert_allclose(by_name({"features": X})["result"], 2 * EXPECTED)
    with pytest.raises(ValueError, match="must both be specified"):
        predictor.from_saved_model(exported, input_names=inputs)
    with pytest.raises(ValueError, match="at most one of signature_def_key"):
        predictor.from_saved_model(exported, "negative", None, inputs, outputs)


def test_a_model_by_its_tags_in_a_graph_of_ones_own(exported):
    graph = tf.Graph()
    config = v1.ConfigProto(allow_soft_placement=True)
    predict = predictor.from_saved_model(exported, tags="serve", graph=graph, config=config)
    assert predict.graph is graph
    with pytest.raises(RuntimeError, match="tags"):
        predictor.from_saved_model(exported, tags="nothing")


def heads_model_fn(features, labels, mode):
    total = features["x"] + features["y"]
    heads = {"sum": (0, {"sum": total}), "twice": (0, {"twice": 2.0 * total})}
    step = v1.assign_add(v1.train.get_or_create_global_step(), 1)
    return learn.ModelFnOps(mode, {"sum": total}, tf.reduce_sum(total), step, None, heads)


def numbers():
    features = {name: v1.placeholder_with_default(0.0, [], name) for name in ("x", "y")}
    return learn.InputFnOps(features, None, features)


def test_a_predictor_of_an_estimator_of_contrib_learn(tmp_path):
    estimator = learn.Estimator(heads_model_fn, str(tmp_path))
    estimator.fit(input_fn=lambda: ({"x": tf.constant(1.0), "y": tf.constant(2.0)}, None), steps=1)
    predict = predictor.from_contrib_estimator(estimator, numbers, output_alternative_key="twice")
    assert predict({"x": 2.0, "y": 5.0}) == {"twice": 14.0}
    with pytest.raises(ValueError, match="default_output_alternative: no, but available"):
        predictor.from_contrib_estimator(estimator, numbers, output_alternative_key="no")
    with pytest.raises(ValueError, match=r"specify a default_output.*\['sum', 'twice'\]"):
        predictor.from_contrib_estimator(estimator, numbers)
    with pytest.raises(KeyError, match="must be default_input_alternative"):
        predictor.from_contrib_estimator(estimator, numbers, "features")


def test_an_estimator_of_the_other_kind_is_told_its_function(tmp_path, estimator):
    of_learn = learn.Estimator(heads_model_fn, str(tmp_path))
    with pytest.raises(TypeError, match="likely want to call from_contrib_estimator"):
        predictor.from_estimator(of_learn, numbers)
    with pytest.raises(TypeError, match="likely want to call from_estimator"):
        predictor.from_contrib_estimator(estimator, receivers)
