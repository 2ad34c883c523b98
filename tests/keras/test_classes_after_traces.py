"""tf_keras models of eager code stay usable beside estimators; models of several optimizers."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

keras, v1 = tf.keras, tf.compat.v1
X = np.linspace(-1, 1, 64).reshape(32, 2).astype(np.float32)
Y = X.sum(1, keepdims=True)


def small():
    layers = [keras.layers.Dense(3, "relu", input_shape=(2,)), keras.layers.Dense(1)]
    return keras.Sequential(layers)


def test_a_model_works_in_a_function_after_a_trace_with_layers():
    model = small()
    expected = model(X).numpy()
    models = []

    class Again(v1.train.SessionRunHook):
        def begin(self):  # hooks may use what model_fn made
            models.append(models[0](tf.zeros([4, 2])))

    def model_fn(features, labels, mode):
        models[:] = [small()]
        loss = tf.reduce_mean(v1.layers.dense(features, 1) + models[0](features))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[Again()])

    eb.Estimator(model_fn).train(lambda: tf.data.Dataset.from_tensors(X), steps=1)
    assert len(models) == 2
    np.testing.assert_allclose(tf.function(model)(X), expected, rtol=1e-6)
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)


@pytest.mark.parametrize("fitted", [False, True])
def test_a_model_of_two_optimizers(fitted):
    """The numbers of TensorFlow 2.15.1, where both optimizers count in the global step."""
    constant = keras.initializers.Constant
    legacy = keras.optimizers.legacy
    deep = [
        keras.layers.Dense(3, activation="tanh", kernel_initializer=constant(0.3)),
        keras.layers.Dense(1, kernel_initializer=constant(0.1)),
    ]
    wide = keras.experimental.LinearModel(units=1, kernel_initializer=constant(0.2))
    model = keras.experimental.WideDeepModel(wide, keras.Sequential(deep))
    model.compile([legacy.SGD(0.1), legacy.Adam(0.01)], "mse", ["mae"])
    if fitted:
        model.fit((X, X), Y, batch_size=8, verbose=0, shuffle=False)
    estimator = eb.keras.model_to_estimator(model, checkpoint_format="saver")

    def rows():
        return tf.data.Dataset.from_tensor_slices(((X, X), Y)).batch(8)

    estimator.train(lambda: rows().repeat(2))
    results = estimator.evaluate(rows)
    assert results["loss"] == pytest.approx(0.02870064042508602, rel=1e-5)
    assert results["mae"] == pytest.approx(0.1435628980398178, rel=1e-5)
    assert results["global_step"] == 16
    (first,) = next(estimator.predict(rows)).values()
    assert first.item() == pytest.approx(-1.6433151960372925, rel=1e-5)
