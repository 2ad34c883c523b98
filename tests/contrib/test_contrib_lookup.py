"""tf.contrib.lookup: ids as documented, in a session and in an estimator."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import lookup

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
WORDS = ["emerson", "lake", "palmer"]


def values(*fetches):
    with v1.Session() as session:
        session.run(v1.tables_initializer())
        return session.run(list(fetches))


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\n".join(WORDS) + "\n")
    return str(path)


def test_words_to_ids(graph, vocabulary):
    asked = tf.constant(["palmer", "emerson", "king"])
    tables = [
        lookup.index_table_from_tensor(WORDS),
        lookup.index_table_from_tensor(mapping=tf.constant(WORDS), default_value=-1),
        lookup.index_table_from_file(vocabulary),
        lookup.string_to_index_table_from_tensor(WORDS),
        lookup.string_to_index_table_from_file(vocabulary_file=vocabulary, vocab_size=3),
    ]
    for ids in values(*(table.lookup(asked) for table in tables)):
        np.testing.assert_array_equal(ids, [2, 0, -1])
        assert ids.dtype == np.int64
    assert values(lookup.string_to_index(asked, WORDS, default_value=9))[0].tolist() == [2, 0, 9]


def test_words_out_of_the_vocabulary_share_buckets(graph, vocabulary):
    asked = tf.constant(["lake", "king", "crimson", "yes"])
    # As documented: size + hash(word) % buckets, with string_to_hash_bucket_fast's hash.
    buckets = 3 + tf.strings.to_hash_bucket_fast(asked, 5)
    strong = lookup.StrongHashSpec((3, 4))
    got = values(
        lookup.index_table_from_tensor(WORDS, num_oov_buckets=5).lookup(asked),
        lookup.index_table_from_file(vocabulary, num_oov_buckets=5).lookup(asked),
        buckets,
        lookup.index_table_from_tensor(WORDS, 5, -1, strong).lookup(asked),
        3 + tf.strings.to_hash_bucket_strong(asked, 5, key=[3, 4]),
    )
    assert got[0].tolist() == got[1].tolist() == [1, *got[2][1:]]
    assert got[3].tolist() == [1, *got[4][1:]]


def test_numbers_as_keys(graph):
    table = lookup.index_table_from_tensor(np.int64([7, 5]), dtype=tf.int64)
    asked = tf.constant([5, 7, 1], tf.int64)
    assert values(table.lookup(asked))[0].tolist() == [1, 0, -1]


def test_ids_to_words(graph, vocabulary):
    ids = tf.constant([1, 5], tf.int64)
    got = values(
        lookup.index_to_string_table_from_tensor(WORDS).lookup(ids),
        lookup.index_to_string_table_from_tensor(mapping=WORDS, default_value="?").lookup(ids),
        lookup.index_to_string_table_from_file(vocabulary, default_value="?").lookup(ids),
        lookup.index_to_string(ids, WORDS),
    )
    assert [g.tolist() for g in got] == [
        [b"lake", b"UNK"], [b"lake", b"?"], [b"lake", b"?"], [b"lake", b"UNK"],
    ]  # fmt: skip


def test_no_vocabulary():
    for function in (lookup.index_table_from_tensor, lookup.index_to_string_table_from_tensor):
        with pytest.raises(ValueError, match="mapping must be specified"):
            function(None)


def test_hash_table(graph):
    table = lookup.HashTable(
        lookup.KeyValueTensorInitializer(["a", "b"], [10, 20], tf.string, tf.int32), -1, "shared"
    )
    with v1.Session() as session:
        session.run(table.init)
        assert session.run(table.lookup(tf.constant(["b", "c"]))).tolist() == [20, -1]
        assert session.run(table.size()) == 2


@pytest.mark.parametrize("is_dense", [False, True])
def test_mutable_tables(graph, is_dense):
    if is_dense:
        keys = {"empty_key": "", "deleted_key": "-", "initial_num_buckets": 8}
        table = lookup.MutableDenseHashTable(tf.string, tf.float32, 0.0, **keys)
    else:
        table = lookup.MutableHashTable(tf.string, tf.float32, 0.0, shared_name="counts")
    words = tf.constant(["x", "y"])
    add = table.insert(words, table.lookup(words) + tf.constant([1.0, 2.0]))
    with v1.Session() as session:
        for _ in range(3):
            session.run(add)
        assert session.run(table.lookup(tf.constant(["y", "x", "z"]))).tolist() == [6, 3, 0]
        assert session.run(table.size()) == 2


def examples(vocabulary):
    """An input_fn of 2018: a table inside of a dataset's map, and an initializer by collection."""

    def input_fn(params):
        table = lookup.index_table_from_file(vocabulary, num_oov_buckets=1)
        texts = tf.data.Dataset.from_tensor_slices(["lake palmer", "emerson king"])
        texts = texts.map(lambda text: v1.string_split([text]).values)
        texts = texts.map(lambda words: tf.ensure_shape(table.lookup(words), [2]))
        return texts.repeat().batch(params["batch_size"], drop_remainder=True)

    return input_fn


def bag_of_words(features, labels, mode, params):
    weights = v1.get_variable("weights", [4, 1], initializer=v1.zeros_initializer())
    scores = tf.reduce_sum(tf.nn.embedding_lookup(weights, features), axis=1)
    words = lookup.index_to_string_table_from_tensor(WORDS, "UNK")
    if mode == eb.ModeKeys.PREDICT:
        predictions = {"words": words.lookup(features), "scores": scores}
        return eb.tpu.TPUEstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(scores - 1.0))
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


@pytest.mark.parametrize("cores", [0, 2])
def test_tables_in_an_estimator(vocabulary, cores, tmp_path):
    config = eb.tpu.RunConfig(master=f"emulated:{cores or 1}", model_dir=str(tmp_path / "model"))
    estimator = eb.tpu.TPUEstimator(
        bag_of_words,
        config=config,
        use_tpu=bool(cores),
        train_batch_size=2,
        predict_batch_size=2,
    )
    estimator.train(examples(vocabulary), steps=1)
    # From 0, scores are 0, so each of a text's two words moves by 0.1 * 2 / 2.
    np.testing.assert_allclose(
        estimator.get_variable_value("weights"), np.full([4, 1], 0.1), rtol=1e-6
    )
    if cores:
        return  # words have no place on a TPU's cores
    predicted = estimator.predict(examples(vocabulary))
    got = [next(predicted) for _ in range(2)]
    assert [p["words"].tolist() for p in got] == [[b"lake", b"palmer"], [b"emerson", b"UNK"]]
    np.testing.assert_allclose([p["scores"] for p in got], [[0.2], [0.2]], rtol=1e-6)
