"""Lookup tables and other resources besides variables."""

import numpy as np
import pytest
import tensorflow as tf
from engine import Replicas, initialize_all, lifted_session, same_as_v1, v1

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import default_strategy

WORDS = ["cat", "dog", "emu"]


def index_table(words=WORDS, **named):
    return tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(words, tf.range(len(words), dtype=tf.int64), **named),
        num_oov_buckets=2,
    )


def test_a_table_from_tensors():
    got = same_as_v1(lambda: index_table().lookup(tf.constant(["emu", "cat", "yak"])))
    assert got[0][:2].tolist() == [2, 0]


def test_a_table_from_a_file(tmp_path):
    path = tmp_path / "vocabulary.txt"
    path.write_text("\n".join(WORDS))

    def build():
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(path),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )
        return table.lookup(tf.constant(["emu", "yak"])), table.size()

    got = same_as_v1(build, runs=2)
    assert got[0][0].tolist() == [2, -1]
    assert got[0][1] == 3


def test_a_table_that_is_written():
    def build():
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        insert = table.insert(tf.constant(["a", "b"]), tf.constant([5, 6], tf.int64))
        with tf.control_dependencies([insert]):
            return table.lookup(tf.constant(["b", "z"])), table.size()

    assert same_as_v1(build, runs=2)[1][0].tolist() == [6, -1]


def test_a_table_keeps_what_an_earlier_run_wrote():
    with trace_graph() as graph:
        table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)
        key = v1.placeholder(tf.int64, [1])
        insert, values = table.insert(key, key * 10), table.lookup(tf.constant([3, 4], tf.int64))
    session = lifted_session(graph)
    assert session.run(values).tolist() == [-1, -1]
    session.run(insert, {key: [4]})
    assert session.run(values).tolist() == [-1, 40]


def test_one_shared_name_in_two_sessions_does_not_collide():
    results = []
    for words in (["a", "b"], ["b", "a"]):
        with trace_graph() as graph:
            table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(words, [1, 2]), 0, name="table"
            )
            results.append((lifted_session(graph), table.lookup(tf.constant(["a"]))))
    assert [session.run(fetch).tolist() for session, fetch in results] == [[1], [2]]
    results[0][0].close()
    assert results[1][0].run(results[1][1]).tolist() == [2]


def test_a_table_before_its_initializer():
    with trace_graph() as graph:
        values = index_table().lookup(tf.constant(["cat"]))
    session = LiftedSession(graph, default_strategy())
    with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
        session.run(values)
    initialize_all(session)
    assert session.run(values).tolist() == [0]


@pytest.mark.parametrize("cores", [1, 2])
def test_a_table_on_replicas(cores):
    with trace_graph() as graph:
        words = v1.placeholder(tf.string, [2])
        embedding = v1.get_variable("e", initializer=tf.reshape(tf.range(10.0), [5, 2]))
        rows = tf.nn.embedding_lookup(embedding, index_table().lookup(words))
    replicas = Replicas(graph, cores, [rows], [], [words])
    batch = ["dog", "cat", "emu", "dog"][: 2 * cores]
    (parts,) = replicas(batch)
    np.testing.assert_array_equal(
        np.concatenate(parts), [[2, 3], [0, 1], [4, 5], [2, 3]][: 2 * cores]
    )


def test_a_queue_and_an_iterator_of_the_graph():
    with trace_graph() as graph:
        queue = v1.FIFOQueue(10, [tf.int32], [[]])
        fill = queue.enqueue_many([[1, 2, 3]])
        element, size = queue.dequeue(), queue.size()
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(3))
        following = iterator.get_next()
    session = lifted_session(graph)
    session.run(fill)
    assert [session.run(element) for _ in range(2)] == [1, 2]
    assert session.run(size) == 1
    session.run(iterator.initializer)
    assert [session.run(following) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(following)
    session.run(iterator.initializer)
    assert session.run(following) == 0
