"""TPU embeddings of sparse ids on emulated cores: numbers of TensorFlow 2.15.1, and by hand."""

from __future__ import annotations

import json
import types
from pathlib import Path

import numpy as np
import pytest
from golden_values import same
from goldens.tpu_embeddings.embedding_cases import (
    BATCH,
    CASES,
    IDS,
    RATE,
    SIZE,
    WORDS,
    column,
    run_case,
    shared,
    sparse,
    start,
    steps,
    weights_of,
)

import estimator_bridge as eb
from estimator_bridge.tpu_embedding_parameters import StochasticGradientDescentParameters as SGD

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
tpu = eb.tpu
GOLDEN = Path(__file__).parents[1] / "goldens/tpu_embeddings/tpu_embeddings.json"
RECORDED = json.loads(GOLDEN.read_text(encoding="utf-8"))
HERE = types.SimpleNamespace(estimator=eb, tpu=tpu)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_originals_numbers_on_two_cores(name):
    """What the original learns without a TPU: both train by gradient descent at one rate."""
    same(run_case(name, HERE, SGD(RATE), cores=2), RECORDED[name], name)


def test_without_cores():
    name = "weighted sqrtn"
    same(run_case(name, HERE, SGD(RATE)), RECORDED[name], name)


TABLE = np.asarray(start([WORDS, SIZE]))
SUMS = np.array([TABLE[ids].sum(axis=0) for ids in IDS])


class Model:
    """A model whose embeddings of the last training batch can be read.

    Args:
      columns: TPU embedding columns, all or none of sequences.
      pipeline: a value of InputPipelineConfig; None for the default.
    """

    def __init__(self, columns, pipeline=None):
        how = {} if pipeline is None else {"per_host_input_for_training": pipeline}
        self._columns = columns
        self.estimator = tpu.TPUEstimator(
            self._model_fn,
            config=tpu.RunConfig(master="emulated:2", tpu_config=tpu.TPUConfig(**how)),
            train_batch_size=BATCH,
            eval_batch_size=BATCH,
            embedding_config_spec=tpu.experimental.EmbeddingConfigSpec(columns, SGD(0.0)),
        )

    def trained(self, input_fn):
        """Returns what the columns find in one batch: embeddings, and lengths of sequences."""
        self.estimator.train(input_fn, steps=1)
        return self._embedded, self._lengths

    def _model_fn(self, features, labels, mode, params):
        if self._columns[0].is_sequence_column():
            embedded, lengths = v1.keras.experimental.SequenceFeatures(self._columns)(features)
        else:
            embedded = v1.keras.layers.DenseFeatures(self._columns)(features)
            lengths = tf.zeros([embedded.shape[0]], tf.int64)
        loss = tf.reduce_mean(embedded) + v1.get_variable("w", [])
        optimizer = tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.0))
        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=optimizer.minimize(loss, v1.train.get_global_step()),
            eval_metrics=(lambda embedded: {"mean": v1.metrics.mean(embedded)}, [embedded]),
            host_call=(self._keep, [embedded, lengths]),
        )

    def _keep(self, embedded, lengths):
        def keep(embedded, lengths):
            self._embedded, self._lengths = embedded.numpy(), lengths.numpy()
            return np.int64(0)

        return tf.py_function(keep, [embedded, lengths], tf.int64)


def rows_of(features):
    def input_fn(params):
        rows = tf.data.Dataset.from_tensor_slices((features(), np.zeros([BATCH, 1], np.float32)))
        return rows.repeat().batch(params["batch_size"], drop_remainder=True)

    return input_fn


@pytest.mark.parametrize("pipeline", ["PER_SHARD_V1", "PER_HOST_V1", "PER_HOST_V2", "BROADCAST"])
def test_every_way_of_feeding(pipeline):
    """Batches with different numbers of ids are joined, and a host's is split."""

    def input_fn(params):
        size = params["batch_size"]
        rows = tf.data.Dataset.from_tensor_slices({"a": sparse(IDS)}).repeat()
        context = params.get("context")
        if pipeline == "PER_SHARD_V1":
            rows = rows.skip(size * context.current_input_fn_deployment()[1])
        return rows.batch(size, drop_remainder=True)

    model = Model([column(combiner="sum")], getattr(tpu.InputPipelineConfig, pipeline))
    embedded, _ = model.trained(input_fn)
    if pipeline == "BROADCAST":  # both cores return all of it
        np.testing.assert_array_equal(embedded[BATCH:], embedded[:BATCH])
        embedded = embedded[:BATCH]
    np.testing.assert_allclose(embedded, SUMS, rtol=1e-5, atol=1e-6)


def test_parsed_examples_whose_shapes_are_unknown():
    def example(ids):
        feature = tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
        return tf.train.Example(features=tf.train.Features(feature={"a": feature}))

    serialized = [example(ids).SerializeToString() for ids in IDS]
    spec = {"a": tf.io.VarLenFeature(tf.int64)}

    def input_fn(params):
        rows = tf.data.Dataset.from_tensor_slices(serialized).repeat()
        return rows.batch(params["batch_size"]).map(lambda x: tf.io.parse_example(x, spec))

    model = Model([column(combiner="sum")])
    np.testing.assert_allclose(model.trained(input_fn)[0], SUMS, rtol=1e-5, atol=1e-6)

    def three(params):
        rows = tf.data.Dataset.from_tensor_slices(serialized).take(3)
        return rows.batch(params["batch_size"]).map(lambda x: tf.io.parse_example(x, spec))

    # A short last batch is padded, and the padding does not count.
    metrics = model.estimator.evaluate(three)
    np.testing.assert_allclose(metrics["mean"], SUMS[:3].mean(), rtol=1e-5)


@pytest.mark.parametrize("is_dense", [False, True])
def test_sequences_are_cut_to_their_length(is_dense):
    """The second one has a gap."""
    model = Model([column(sequence=3)])
    input_fn = rows_of(lambda: {"a": tf.sparse.to_dense(steps(), -1) if is_dense else steps()})
    embedded, lengths = model.trained(input_fn)
    assert embedded.shape == (BATCH, 3, SIZE)
    np.testing.assert_array_equal(lengths, [1, 3, 0, 3])
    expected = np.zeros([BATCH, 3, SIZE])
    for i, j, word in [(0, 0, 1), (1, 0, 5), (1, 2, 6), (3, 0, 2), (3, 1, 2), (3, 2, 3)]:
        expected[i, j] = TABLE[word]
    np.testing.assert_allclose(embedded, expected, rtol=1e-5, atol=1e-6)


def test_sequences_are_padded_to_their_length():
    model = Model([column(sequence=6)])
    embedded, lengths = model.trained(rows_of(lambda: {"a": tf.sparse.to_dense(steps(), -1)}))
    assert embedded.shape == (BATCH, 6, SIZE) and not embedded[:, 4:].any()
    np.testing.assert_array_equal(lengths, [1, 3, 0, 4])


def test_a_lookup_on_a_core_takes_the_first_ids():
    device = {"embedding_lookup_device": "tpu_tensor_core", "tensor_core_shape": [None, 2]}
    model = Model([column(combiner="sum", **device)])
    embedded, _ = model.trained(rows_of(lambda: {"a": sparse(IDS)}))
    first = np.array([TABLE[ids[:2]].sum(axis=0) for ids in IDS])
    np.testing.assert_allclose(embedded, first, rtol=1e-5, atol=1e-6)


def test_weights_are_converted_as_on_a_tpu():
    model = Model([column(weights="w", combiner="sum")])
    input_fn = rows_of(lambda: {"a": sparse(IDS), "w": weights_of(IDS, np.int64)})
    embedded, _ = model.trained(input_fn)
    weights = iter([1, 2, 0, 3, 1, 1, 4, 2])
    expected = [sum((next(weights) * TABLE[i] for i in ids), np.zeros(SIZE)) for ids in IDS]
    np.testing.assert_allclose(embedded, expected, rtol=1e-5, atol=1e-6)


def words(ids):
    return tf.SparseTensor(ids.indices, tf.strings.as_string(ids.values), ids.dense_shape)


@pytest.mark.parametrize(
    ("columns", "features", "error"),
    [
        (
            lambda: [column()],
            lambda: {"a": words(sparse(IDS))},
            r"SparseTensor with string as values are not supported.*_transform_feature",
        ),
        (
            lambda: [column(weights="w")],
            lambda: {"a": sparse(IDS), "w": np.ones([BATCH, 4], np.float32)},
            r"Dense weights are not supported on TPU.*tf.SparseTensor\(ids.indices",
        ),
        (
            lambda: [column(weights="w")],
            lambda: {"a": sparse(IDS)},
            r"Cannot find weights w .*Please check if the weights are present in feature dict",
        ),
        (
            lambda: [column("a", weights="w"), column("b", weights="w")],
            lambda: {
                "a": sparse(IDS),
                "b": sparse(IDS),
                "w": weights_of(IDS, np.float32),
            },
            r"Cannot find weights w for weighted_categorical_column of 'b'.*weight-sharing",
        ),
        (
            lambda: [column()],
            lambda: {"a": sparse(IDS), "other": sparse(IDS)},
            r"must be dense tensors in TPU mode, but features\['other'\] is a SparseTensorSpec",
        ),
    ],
)
def test_mistakes_in_the_features(columns, features, error):
    with pytest.raises(ValueError, match=error):
        Model(columns()).trained(rows_of(features))


@pytest.mark.parametrize(
    ("columns", "kind", "error"),
    [
        (
            lambda: [column(), column(combiner="sum")],
            ValueError,
            "Feature column a is used with multiple embeddings and this is not supported",
        ),
        (
            lambda: [column(), *shared()],
            ValueError,
            "Feature column a is used with multiple embeddings and this is not supported",
        ),
        (
            lambda: [
                column("b"),
                tf.feature_column.embedding_column(column().categorical_column, 2),
            ],
            TypeError,
            "Unsupported feature column 'a_embedding' .*tpu.experimental.embedding_column",
        ),
        (
            lambda: [column(embedding_lookup_device="cpu")],
            ValueError,
            'embedding_lookup_device="cpu" during training is not supported',
        ),
        (
            lambda: [
                column(
                    combiner="sqrtn",
                    embedding_lookup_device="tpu_tensor_core",
                    tensor_core_shape=[None, 2],
                )
            ],
            ValueError,
            'has the combiner \'sqrtn\'.*use combiner="sum" or "mean"',
        ),
    ],
)
def test_columns_that_a_tpu_does_not_look_up(columns, kind, error):
    with pytest.raises(kind, match=error):
        Model(columns())


def test_a_model_of_nothing_but_tables():
    """Its optimizer has nothing to train; steps are counted, and the tables learn."""

    def model_fn(features, labels, mode, params):
        loss = tf.reduce_sum(v1.keras.layers.DenseFeatures(columns)(features))
        optimizer = tpu.CrossShardOptimizer(v1.train.AdagradOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    columns = [column(combiner="sum")]
    estimator = tpu.TPUEstimator(
        model_fn,
        config=tpu.RunConfig(master="emulated:2"),
        train_batch_size=BATCH,
        embedding_config_spec=tpu.experimental.EmbeddingConfigSpec(columns, SGD(0.5)),
    )
    estimator.train(rows_of(lambda: {"a": sparse(IDS)}), steps=2)
    assert estimator.get_variable_value("global_step") == 2
    counts = np.bincount(np.concatenate(IDS).astype(int), minlength=WORDS)
    # The optimizer takes the mean of the cores' losses.
    expected = TABLE - 2 * 0.5 * counts[:, np.newaxis] / 2
    (name,) = [name for name in estimator.get_variable_names() if "embedding" in name]
    np.testing.assert_allclose(estimator.get_variable_value(name), expected, rtol=1e-5, atol=1e-6)
