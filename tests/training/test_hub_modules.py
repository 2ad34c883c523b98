"""Modules of tensorflow_hub in a model_fn; see docs/tf_hub.md."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

hub = pytest.importorskip(
    "tensorflow_hub", reason="needs tensorflow_hub: pip install tensorflow-hub 'setuptools<81'"
)
GOLDEN = Path(__file__).resolve().parents[1] / "goldens" / "hub"
RECORDED = json.loads((GOLDEN / "outputs.json").read_text(encoding="utf-8"))
X = np.array(RECORDED["features"], np.float32)

tf1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    layer = hub.KerasLayer(
        str(GOLDEN / "module"), signature="default", tags=set(), trainable=params["trainable"]
    )
    embedded = layer(features)
    predicted = tf1.layers.dense(embedded, 1, name="head")
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, predictions={"embedded": embedded})
    loss = tf.reduce_mean(tf.square(predicted[:, 0] - labels))
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def batches():
    return tf.data.Dataset.from_tensors((X, np.ones(2, np.float32))).repeat(3)


def test_a_frozen_tf1_module_gives_the_numbers_of_tensorflow_1(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path), params={"trainable": False})
    estimator.train(batches)
    assert "inner/d/kernel" in estimator.get_variable_names()
    embeddings = [
        one["embedded"] for one in estimator.predict(lambda: tf.data.Dataset.from_tensors(X))
    ]
    np.testing.assert_allclose(embeddings, RECORDED["outputs"], rtol=1e-6, atol=1e-7)


def test_a_tf1_module_cannot_be_trained(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path), params={"trainable": True})
    with pytest.raises(ValueError, match="trainable"):
        estimator.train(batches)
