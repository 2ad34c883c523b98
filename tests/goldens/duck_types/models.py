"""The models of the cases, and what they share.

A wrapper has only the methods that a program would write, and delegates. A mock has all.
"""

from __future__ import annotations

import os

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
train = v1.train
CASES = {}


def case(function):
    """Registers a case under its function's name."""
    CASES[function.__name__] = function
    return function


class Delegate:
    """Has the attributes of another object, and no class of its."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        if name.startswith("_") or name == "inner":  # programs delegate what they know of
            raise AttributeError(name)
        return getattr(self.inner, name)


def steps_of(folder):
    names = [name for name in os.listdir(folder) if name.endswith(".index")]
    return sorted(int(name[:-6].rpartition("-")[2]) for name in names)


def threes():
    return tf.data.Dataset.from_tensors((np.float32([[3.0]]), np.float32([[3.0]]))).repeat()


def nans():
    return threes().map(lambda x, y: (x * np.nan, y))


def model_fn_of(estimator, scaffold=None, optimizer=None, **fields):
    """A model_fn with one weight; its loss is the square of the distance to the features."""

    def model_fn(features, labels, mode):
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(w - features))
        minimizer = optimizer() if optimizer else train.GradientDescentOptimizer(0.1)
        return estimator.EstimatorSpec(
            mode,
            predictions={"w": w + 0 * features},
            loss=loss,
            train_op=minimizer.minimize(loss, train.get_global_step()),
            scaffold=scaffold() if scaffold else None,
            **{name: make() for name, make in fields.items()},
        )

    return model_fn


def make(estimator, folder, every=2, **parts):
    config = estimator.RunConfig(save_checkpoints_steps=every, tf_random_seed=1)
    return estimator.Estimator(model_fn_of(estimator, **parts), folder, config)


def trained(model, folder, steps=5, **options):
    """Trains and returns the files, the weight and an evaluation."""
    model.train(threes, steps=steps, **options)
    results = model.evaluate(threes, steps=2)
    return {
        "steps": steps_of(folder),
        "w": float(model.get_variable_value("w")),
        "loss": float(results["loss"]),
        "global_step": int(results["global_step"]),
    }


def columns():
    return [tf.feature_column.numeric_column("x")]


def rows():
    features = {"x": np.float32([[1.0], [2.0], [3.0], [4.0]])}
    return tf.data.Dataset.from_tensors(
        (features, np.float32([[2.0], [4.0], [6.0], [8.0]]))
    ).repeat()


def canned(kind, folder, estimator, **options):
    model = kind(
        feature_columns=columns(),
        model_dir=folder,
        config=estimator.RunConfig(tf_random_seed=1),
        **options,
    )
    model.train(rows, steps=3)
    return {k: float(v) for k, v in model.evaluate(rows, steps=1).items()}


def v1_of(estimator):
    """Version 1 of the names: tf.compat.v1.estimator, or its replacement."""
    if estimator.__name__ == "estimator_bridge":
        from estimator_bridge import v1 as bridge

        return bridge
    return v1.estimator


def keras():
    """Keras 2, which TensorFlow 2.15 itself has."""
    if tf.__version__.startswith("2.15."):
        return tf.keras
    import tf_keras

    return tf_keras
