"""TPU embeddings on emulated cores: tables that their own optimizer trains."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from engine import run_program

import estimator_bridge as eb
from estimator_bridge.tpu_embedding_parameters import (
    AdagradParameters,
    AdamParameters,
    StochasticGradientDescentParameters,
)

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
tpu = eb.tpu
SGD = StochasticGradientDescentParameters
TABLE = "input_layer/a_embedding/embedding_weights"
WORDS, SIZE = 6, 2
# -1 is no id, as in a batch that was padded.
IDS = np.int64([[0, 1], [1, -1], [3, 3], [0, -1]])


def initial():
    return np.arange(WORDS * SIZE, dtype=np.float32).reshape([WORDS, SIZE]) / 10


def constant(shape, dtype=None, partition_info=None):
    return tf.constant(initial())


def column(key="a", **options):
    ids = tf.feature_column.categorical_column_with_identity(key, WORDS)
    options = {"initializer": constant, "combiner": "sum", **options}
    return v1.tpu.experimental.embedding_column(ids, SIZE, **options)


def examples(params):
    return tf.data.Dataset.from_tensors({"a": IDS, "b": IDS[::-1]}).repeat()


def make(columns, parameters, cores=2, read=None, **options):
    """An estimator of the model y = w . sum of the embeddings, whose loss is the mean of y."""
    read = read or v1.feature_column.input_layer

    def model_fn(features, labels, mode, params):
        w = v1.get_variable("w", [SIZE * len(columns), 1], initializer=v1.ones_initializer())
        y = tf.matmul(read(features, columns), w)
        if mode == eb.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(y)
        optimizer = v1.train.GradientDescentOptimizer(0.0)
        if params["use_tpu"]:
            optimizer = tpu.CrossShardOptimizer(optimizer)
        pairs = [(g, v) for g, v in optimizer.compute_gradients(loss) if g is not None]
        clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], 1e-6)
        pairs = zip(clipped, [v for _, v in pairs])
        train_op = optimizer.apply_gradients(pairs, v1.train.get_global_step())
        metrics = (lambda y: {"mean": v1.metrics.mean(y)}, [y])
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)

    spec = tpu.experimental.EmbeddingConfigSpec(columns, parameters, **options)
    return tpu.TPUEstimator(
        model_fn,
        config=tpu.RunConfig(master=f"emulated:{cores or 1}"),
        use_tpu=bool(cores),
        train_batch_size=4,
        eval_batch_size=4,
        predict_batch_size=4,
        embedding_config_spec=spec,
    )


def gradient(ids=IDS):
    """Of the mean of four sums by each word's weights: how often it occurs, by four."""
    counts = np.bincount(ids[ids >= 0], minlength=WORDS) / 4
    return np.repeat(counts[:, np.newaxis], SIZE, axis=1).astype(np.float32)


def sgd(w, g, slots, t):
    return w - 0.5 * g


def adagrad(w, g, slots, t):
    slots["Adagrad"] = slots.get("Adagrad", 0.1) + g * g
    return w - 0.5 * g / np.sqrt(slots["Adagrad"])


def adam(is_lazy, is_inside):
    def update(w, g, slots, t):
        used = (g != 0) | (not is_lazy)
        m, v = slots.get("Adam/m", 0 * w), slots.get("Adam/v", 0 * w)
        slots["Adam/m"] = m = np.where(used, 0.9 * m + 0.1 * g, m)
        slots["Adam/v"] = v = np.where(used, 0.999 * v + 0.001 * g * g, v)
        root = np.sqrt(v + 0.1**2) if is_inside else np.sqrt(v) + 0.1
        return w - 0.5 * np.where(used, m / root, 0)

    return update


def decayed(w, g, slots, t):
    new = np.clip(w - 0.2 * 0.5 * w - 0.5 * np.clip(g, 0.0, 0.3), 0.05, 0.9)
    return np.where(g != 0, new, w)


@pytest.mark.parametrize(
    ("parameters", "update"),
    [
        (SGD(0.5), sgd),
        (AdagradParameters(0.5), adagrad),
        (AdamParameters(0.5, epsilon=0.1), adam(True, True)),
        (
            AdamParameters(0.5, epsilon=0.1, lazy_adam=False, sum_inside_sqrt=False),
            adam(False, False),
        ),
        (
            SGD(
                0.5,
                clip_weight_min=0.05,
                clip_weight_max=0.9,
                weight_decay_factor=0.2,
                multiply_weight_decay_factor_by_learning_rate=True,
                clip_gradient_min=0.0,
                clip_gradient_max=0.3,
            ),
            decayed,
        ),
    ],
)
def test_updates(parameters, update):
    """Each by its formula, however the batch is dealt out and the program clips its gradients."""
    estimator = make([column()], parameters)
    estimator.train(examples, steps=3)
    w, slots = initial(), {}
    for t in range(3):
        w = update(w, gradient(), slots, t)
    np.testing.assert_allclose(estimator.get_variable_value(TABLE), w, rtol=1e-4)
    for name, slot in slots.items():
        value = estimator.get_variable_value(f"{TABLE}/{name}")
        np.testing.assert_allclose(value, slot, rtol=1e-4, atol=1e-7)
    names = {name for name in estimator.get_variable_names() if name.startswith(TABLE)}
    assert names == {TABLE, *(f"{TABLE}/{name}" for name in slots)}


def read_by_keras(features, columns):
    return v1.keras.layers.DenseFeatures(columns)(features)


def test_shared_tables():
    """Both columns' gradients are added up before the one table is changed."""
    ids = [tf.feature_column.categorical_column_with_identity(key, WORDS) for key in "ab"]
    columns = v1.tpu.experimental.shared_embedding_columns(
        ids, SIZE, initializer=constant, combiner="sum"
    )
    estimator = make(columns, AdagradParameters(0.5), read=read_by_keras)
    estimator.train(examples, steps=2)
    w, slots = initial(), {}
    for t in range(2):
        w = adagrad(w, 2 * gradient(), slots, t)  # "b" has the same ids as "a"
    (name,) = [n for n in estimator.get_variable_names() if n.endswith("shared_embedding")]
    np.testing.assert_allclose(estimator.get_variable_value(name), w, rtol=1e-4)


@pytest.mark.parametrize(
    ("combiner", "factor"), [("sum", 1.0), ("mean", 1 / 2), ("sqrtn", 1 / np.sqrt(2))]
)
def test_combiners_through_training_evaluation_and_prediction(combiner, factor):
    ids = np.int64([[0, 1], [2, 3], [4, 5], [1, 1]])
    estimator = make([column(combiner=combiner)], SGD(0.5))
    estimator.train(lambda params: tf.data.Dataset.from_tensors({"a": ids}), steps=1)
    w = initial() - 0.5 * gradient(ids) * factor

    def once(params):
        return tf.data.Dataset.from_tensors({"a": ids})

    y = factor * w[ids].sum(axis=(1, 2))
    np.testing.assert_allclose(estimator.evaluate(once, steps=1)["mean"], y.mean(), rtol=1e-5)
    got = [each["y"][0] for each in estimator.predict(once)]
    np.testing.assert_allclose(got, y, rtol=1e-4, atol=1e-6)
    on_cpu = make([column(combiner=combiner)], SGD(0.5), cores=0)
    metrics = on_cpu.evaluate(once, steps=1, checkpoint_path=estimator.latest_checkpoint())
    np.testing.assert_allclose(metrics["mean"], y.mean(), rtol=1e-5)


def test_a_rate_of_the_columns_own_and_a_multiplier():
    columns = [column("a"), column("b", learning_rate_fn=lambda step: 0.1 * (1.0 + float32(step)))]
    estimator = make(
        columns, SGD(0.5), experimental_gradient_multiplier_fn=lambda step: 2.0 + float32(step)
    )
    estimator.train(examples, steps=2)
    total = gradient() * (2 + 3)
    np.testing.assert_allclose(
        estimator.get_variable_value(TABLE), initial() - 0.5 * total, rtol=1e-4, atol=1e-6
    )
    total = gradient() * (2 * 0.1 + 3 * 0.2)
    np.testing.assert_allclose(
        estimator.get_variable_value(TABLE.replace("a_", "b_")), initial() - total, rtol=1e-4
    )


def float32(step):
    return tf.cast(step, tf.float32)


def test_without_cores_the_models_optimizer_trains_the_tables():
    """As in the original: here at a rate of 0."""
    estimator = make([column()], SGD(0.5), cores=0)
    estimator.train(examples, steps=2)
    np.testing.assert_array_equal(estimator.get_variable_value(TABLE), initial())


def test_a_column_that_the_model_does_not_use():
    estimator = make([column()], SGD(0.5), read=lambda features, columns: tf.ones([2, SIZE]))
    with pytest.raises(RuntimeError, match=r"did not capture any thing.*\['a_embedding'\]"):
        estimator.train(examples, steps=1)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, ValueError, "Exactly one of `feature_columns` and the pair"),
        (
            {"feature_to_config_dict": {"a": 1}, "table_to_config_dict": {"b": 1}},
            NotImplementedError,
            "Describe the tables with columns",
        ),
        (
            {"feature_columns": [tf.feature_column.numeric_column("x")]},
            TypeError,
            "supported types.*Got NumericColumn",
        ),
        ({"feature_columns": [column()]}, ValueError, "optimization_parameters must be an instanc"),
        (
            {
                "feature_columns": [column()],
                "optimization_parameters": SGD(1.0),
                "partition_strategy": "all",
            },
            ValueError,
            "Invalid partition_strategy all. Must be one of",
        ),
    ],
)
def test_mistakes_in_a_spec(arguments, error, words):
    with pytest.raises(error, match=words):
        tpu.experimental.EmbeddingConfigSpec(**arguments)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (AdagradParameters, {"initial_accumulator": 0.0}, "initial_accumulator must be greater"),
        (AdamParameters, {"beta1": 1.0}, "beta1 must be between 0. and 1"),
        (AdamParameters, {"epsilon": 0.0}, "epsilon must be positive"),
        (AdamParameters, {"lazy_adam": False, "use_gradient_accumulation": False}, "Lazy Adam"),
        (SGD, {"clip_gradient_max": 1.0, "use_gradient_accumulation": False}, "must be enabled"),
    ],
)
def test_mistakes_in_parameters(kind, options, words):
    with pytest.raises(ValueError, match=words):
        kind(0.1, **options)


def test_signatures_are_the_originals():
    names = list(inspect.signature(tpu.experimental.EmbeddingConfigSpec).parameters)
    assert names == [
        "feature_columns", "optimization_parameters", "clipping_limit",
        "pipeline_execution_with_tensor_core", "experimental_gradient_multiplier_fn",
        "feature_to_config_dict", "table_to_config_dict", "partition_strategy",
        "profile_data_directory",
    ]  # fmt: skip


def test_programs_find_the_parameters_where_they_were():
    program = """
        import estimator_bridge as eb
        from estimator_bridge import tpu_embedding_parameters
        eb.install()
        import tensorflow.compat.v1 as tf
        for name in tpu_embedding_parameters.__all__:
            print(getattr(tf.tpu.experimental, name) is getattr(tpu_embedding_parameters, name))
        spec = tf.estimator.tpu.experimental.EmbeddingConfigSpec
        print(spec is eb.tpu.experimental.EmbeddingConfigSpec)
    """
    assert run_program(program) == ["True"] * 4


def test_something_else_in_the_place_of_a_spec():
    with pytest.raises(TypeError, match=r"embedding_config_spec is a list\. Pass a"):
        tpu.TPUEstimator(
            lambda features: None,
            config=tpu.RunConfig(master="emulated:2"),
            embedding_config_spec=[column()],
        )


def test_a_tpu_of_hardware_is_refused(monkeypatch):
    """Its cores cannot run the columns' lookups, and its embedding engine is not driven."""
    monkeypatch.setattr(
        tpu.TPUEstimator,
        "_make_strategy",
        lambda self, config: tf.distribute.TPUStrategy.__new__(tf.distribute.TPUStrategy),
    )
    with pytest.raises(NotImplementedError, match=r"embedding engine is not supported.*tf.gather"):
        make([column()], SGD(0.5))
