"""Heads, columns and optimizers of programs, in heads and canned models."""

from __future__ import annotations

import functools
import os

import tensorflow as tf
from goldens.duck_types.model_parts import DelegatingOptimizer, Minimizes
from goldens.duck_types.models import canned, case, columns, keras, rows, threes, v1_of

v1 = tf.compat.v1
train = v1.train


@case
def canned_optimizer_that_delegates(estimator, folder):
    optimizer = DelegatingOptimizer(train.GradientDescentOptimizer(0.01))
    kind = v1_of(estimator).LinearRegressor
    return {**canned(kind, folder, estimator, optimizer=optimizer), "calls": optimizer.calls}


@case
def canned_optimizer_of_a_callable_object(estimator, folder):
    class MakeOptimizer:
        def __call__(self):
            return keras().optimizers.legacy.SGD(0.01)

    return canned(estimator.LinearRegressor, folder, estimator, optimizer=MakeOptimizer())


# Heads


@case
def head_that_delegates(estimator, folder):
    class Head:
        def __init__(self):
            self.inner, self.calls = estimator.RegressionHead(), []

        @property
        def logits_dimension(self):
            return self.inner.logits_dimension

        @property
        def name(self):
            return self.inner.name

        def create_estimator_spec(self, *args, **kwargs):
            self.calls.append(sorted(kwargs))
            return self.inner.create_estimator_spec(*args, **kwargs)

    head = Head()
    options = {"optimizer": lambda: keras().optimizers.legacy.SGD(0.01)}
    model = estimator.LinearEstimator(
        head, columns(), model_dir=folder, config=estimator.RunConfig(tf_random_seed=1), **options
    )
    model.train(rows, steps=3)
    return {k: float(v) for k, v in model.evaluate(rows, steps=1).items()}


class Head:
    """Delegates the public methods of a head."""

    def __init__(self, inner):
        self.inner = inner

    name = property(lambda self: self.inner.name)
    logits_dimension = property(lambda self: self.inner.logits_dimension)
    loss_reduction = property(lambda self: self.inner.loss_reduction)

    def loss(self, *args, **kwargs):
        return self.inner.loss(*args, **kwargs)

    def predictions(self, *args, **kwargs):
        return self.inner.predictions(*args, **kwargs)

    def metrics(self, *args, **kwargs):
        return self.inner.metrics(*args, **kwargs)

    def update_metrics(self, *args, **kwargs):
        return self.inner.update_metrics(*args, **kwargs)

    def create_estimator_spec(self, *args, **kwargs):
        return self.inner.create_estimator_spec(*args, **kwargs)


@case
def heads_of_a_multi_head(estimator, folder):
    heads = [Head(estimator.RegressionHead(name=name)) for name in ("a", "b")]
    head = estimator.MultiHead(heads)

    def model_fn(features, labels, mode):
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        logits = w * features["x"]
        return head.create_estimator_spec(
            features,
            mode,
            {"a": logits, "b": logits},
            labels,
            train_op_fn=lambda loss: train.GradientDescentOptimizer(0.01).minimize(
                loss, train.get_global_step()
            ),
        )

    def two():
        return rows().map(lambda x, y: (x, {"a": y, "b": 2 * y}))

    model = estimator.Estimator(model_fn, folder, estimator.RunConfig(tf_random_seed=1))
    model.train(two, steps=3)
    return {k: float(v) for k, v in sorted(model.evaluate(two, steps=1).items())}


@case
def canned_heads(estimator, folder):
    """In canned estimators."""
    seen = {}
    sgd = lambda: keras().optimizers.legacy.SGD(0.01)  # noqa: E731
    kinds = {
        "dnn": (
            estimator.DNNEstimator,
            {"hidden_units": [2], "optimizer": sgd, "feature_columns": columns()},
        ),
        "both": (
            functools.partial(
                estimator.DNNLinearCombinedEstimator,
                linear_feature_columns=columns(),
                linear_optimizer=sgd,
            ),
            {"dnn_hidden_units": [2], "dnn_optimizer": sgd, "dnn_feature_columns": columns()},
        ),
    }
    for name, (kind, options) in kinds.items():
        model = kind(
            Head(estimator.RegressionHead()),
            **options,
            model_dir=os.path.join(folder, name),
            config=estimator.RunConfig(tf_random_seed=1),
        )
        model.train(rows, steps=2)
        seen[name] = sorted(model.evaluate(rows, steps=1))
    return seen


@case
def optimizers_that_canned_models_refuse(estimator, folder):
    seen = {}
    for name, kind in (("v2", estimator.LinearRegressor), ("v1", v1_of(estimator).LinearRegressor)):
        try:
            canned(kind, os.path.join(folder, name), estimator, optimizer=Minimizes())
            seen[name] = "trained"
        except Exception as error:
            seen[name] = type(error).__name__
    return seen


@case
def column_by_hand(estimator, folder):
    from tensorflow.python.feature_column import feature_column_v2  # its base has no public name

    class Tenth(feature_column_v2.DenseColumn):
        name = "tenth"
        variable_shape = tf.TensorShape([1])
        parents = ("x",)
        _is_v2_column = True

        @property
        def parse_example_spec(self):
            return {"x": tf.io.FixedLenFeature([1], tf.float32)}

        def transform_feature(self, transformation_cache, state_manager):
            return transformation_cache.get("x", state_manager) / 10

        def get_dense_tensor(self, transformation_cache, state_manager):
            return transformation_cache.get(self, state_manager)

        def get_config(self):
            return {}

        @classmethod
        def from_config(cls, config, custom_objects=None, columns_by_name=None):
            return cls()

    model = estimator.LinearRegressor(
        [Tenth()],
        model_dir=folder,
        config=estimator.RunConfig(tf_random_seed=1),
        optimizer=lambda: keras().optimizers.legacy.SGD(0.01),
    )
    model.train(rows, steps=3)
    return {k: float(v) for k, v in model.evaluate(rows, steps=1).items()}


@case
def optimizer_in_a_tpu_estimator(estimator, folder):
    """Off the TPU, as programs test it; a CrossShardOptimizer of a subclass that delegates."""
    tpu = v1_of(estimator).tpu
    optimizers = []

    def model_fn(features, labels, mode, params):
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(w - features))
        optimizers.append(DelegatingOptimizer(train.MomentumOptimizer(0.1, 0.5)))
        optimizer = optimizers[-1]
        if params["use_tpu"]:
            optimizer = v1.tpu.CrossShardOptimizer(optimizer)
        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=optimizer.minimize(loss, train.get_global_step()),
            eval_metrics=(functools.partial(means, factor=2.0), [features]),
        )

    def means(features, factor):
        return {"mean": v1.metrics.mean(factor * features)}

    def input_fn(params):
        return threes().unbatch().batch(params["batch_size"], drop_remainder=True)

    config = tpu.RunConfig(model_dir=folder, save_checkpoints_steps=2)
    model = tpu.TPUEstimator(
        model_fn, config=config, use_tpu=False, train_batch_size=4, eval_batch_size=4
    )
    model.train(functools.partial(input_fn), max_steps=3)
    results = model.evaluate(input_fn, steps=2)
    return {
        "w": float(model.get_variable_value("w")),
        "mean": float(results["mean"]),
        "calls": optimizers[0].calls,
    }
