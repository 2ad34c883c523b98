"""tf.contrib.linear_optimizer: what it does beyond the cases of contrib_goldens."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import layers, learn, linear_optimizer

v1 = tf.compat.v1
OPTIONS = {
    "loss_type": "squared_loss",
    "symmetric_l1_regularization": 0.0,
    "symmetric_l2_regularization": 1.0,
}


def batch(values=None):
    """Three examples, the last without an id."""
    column = linear_optimizer.SparseFeatureColumn([0, 0, 1], [4, 1, 2], values)
    return {
        "sparse_features": [column],
        "dense_features": [],
        "example_labels": [1.0, -1.0, 0.5],
        "example_weights": [1.0, 1.0, 1.0],
        "example_ids": ["p", "q", "r"],
    }


def solved(sizes, values=None):
    """Returns the weights and predictions after 30 steps, with a variable for each part."""

    with tf.Graph().as_default(), v1.Session() as session:
        parts = [v1.get_variable(f"w{n}", [size], tf.float32) for n, size in enumerate(sizes)]
        weights = {"sparse_features_weights": [parts], "dense_features_weights": []}
        model = linear_optimizer.SdcaModel(batch(values), weights, OPTIONS)
        update = model.update_weights(model.minimize())
        predictions = model.predictions(batch(values))
        session.run(v1.global_variables_initializer())
        for _ in range(30):
            session.run(update)
        return np.concatenate(session.run(parts)), session.run(predictions)


def test_parts_of_any_size_have_the_weights_of_one_variable():
    whole, _ = solved([6])
    for sizes in ([2, 4], [1, 4, 1]):
        np.testing.assert_allclose(solved(sizes)[0], whole, atol=1e-3)
    assert np.count_nonzero(whole) == 3


def test_an_example_without_ids_has_a_prediction():
    weights, predictions = solved([6], [1.0, 2.0, 1.0])
    expected = [weights[4] + 2 * weights[1], weights[2], 0.0]
    np.testing.assert_allclose(predictions, expected, rtol=1e-5)


def test_values_are_1_by_default():
    np.testing.assert_allclose(solved([6])[0], solved([6], [1.0, 1.0, 1.0])[0], atol=1e-3)


def test_features_without_example_ids_are_an_error(tmp_path):
    column = layers.real_valued_column("x")
    estimator = learn.SVM("key", [column], model_dir=str(tmp_path))
    with pytest.raises(KeyError, match="by the feature 'key', a string for each; the features are"):
        estimator.fit(input_fn=lambda: ({"x": tf.ones([1, 1])}, tf.ones([1, 1])), steps=1)


def test_a_support_vector_machine_says_that_it_has_no_probabilities():
    estimator = learn.SVM("key", [layers.real_valued_column("x")])
    with pytest.raises(ValueError, match=r"no probabilities\. Use predict_classes"):
        estimator.predict_proba()


def test_a_centered_bias_is_turned_off(caplog):
    optimizer = linear_optimizer.SDCAOptimizer("key")
    columns = [layers.real_valued_column("x")]
    with caplog.at_level("WARNING"):
        learn.LinearRegressor(columns, optimizer=optimizer, enable_centered_bias=True)
    assert "centered_bias is not supported with SDCA" in caplog.text
