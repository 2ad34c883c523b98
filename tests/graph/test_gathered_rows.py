"""Batches of arrays' rows, made at once: the same elements in the same order."""

from __future__ import annotations

import contextlib
import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from estimator_bridge.data.graph_iterators import lifted_dataset, whole_dataset
from estimator_bridge.data.lifted_inputs import dataset_of_tensors
from estimator_bridge.graph import (
    LiftedSession,
    Snapshot,
    arrays_outside,
    gathered_rows,
    trace_graph,
)
from estimator_bridge.graph.dataset_rewrites import with_datasets_rewritten
from estimator_bridge.graph.one_shot_iterators import dataset_nodes
from estimator_bridge.tensorflow_private.names import eager_mode

import tensorflow as tf  # isort: skip
from rewritten_datasets import both, read, same  # isort: skip

v1 = tf.compat.v1


def columns(rows):
    """Columns of several types, whose values tell the row."""
    numbers = np.arange(rows)
    return {
        "wide": np.float32(numbers[:, None] + np.linspace(0, 0.5, 3)),
        "text": np.char.add("row ", numbers.astype(str)),
        "flag": numbers % 3 == 0,
        "pair": (numbers.astype(np.int8), np.float64(numbers)),
    }


def ops(make):
    """Returns the types of the rewritten nodes that make a dataset."""
    with trace_graph() as graph:
        make()
    snapshot = Snapshot.of(graph)
    nodes = with_datasets_rewritten(snapshot, graph).nodes
    return {n.op for name, n in nodes.items() if n is not snapshot.nodes.get(name)}


STEPS = {
    "shuffle": st.tuples(
        st.integers(1, 40), st.one_of(st.none(), st.integers(0, 9)), st.booleans()
    ),
    "repeat": st.tuples(st.sampled_from([None, -1, 0, 1, 2, 3])),
    "skip": st.tuples(st.sampled_from([0, 1, 5, 30, -1])),
    "take": st.tuples(st.sampled_from([0, 1, 7, 30, -1])),
    "prefetch": st.tuples(st.sampled_from([1, 3, -1])),
}
STEP = st.one_of(*(st.tuples(st.just(name), arguments) for name, arguments in STEPS.items()))


@given(
    rows=st.integers(1, 30),
    before=st.lists(STEP, max_size=3),
    size=st.integers(1, 40),
    drop=st.booleans(),
    after=st.lists(STEP, max_size=2),
    block=st.sampled_from([8, 2048]),  # rows that are gathered at once
)
@settings(deadline=None, max_examples=25)
def test_batches_are_those_of_the_plain_dataset(rows, before, size, drop, after, block):
    def make():
        dataset = tf.data.Dataset.from_tensor_slices(columns(rows))
        dataset = applied(dataset, before).batch(size, drop_remainder=drop)
        return applied(dataset, after)

    # tf.data's optimizer fuses these two to an operation that refuses the number 0.
    assume(
        not any(
            a == "shuffle" and b == ("repeat", (0,))
            for (a, _), b in zip(after, itertools.islice(after, 1, None))
        )
    )
    with mock.patch.object(gathered_rows, "_BLOCK_ROWS", block):
        same(*both(make))


def applied(dataset, steps):
    for name, arguments in steps:
        dataset = getattr(dataset, name)(*arguments)
    return dataset


def with_function():
    dataset = tf.data.Dataset.from_tensor_slices(columns(50)).shuffle(9, seed=1).batch(4)
    return dataset.map(lambda row: {**row, "wide": row["wide"] * 2}).prefetch(2)


def fed_by_a_cast():
    numbers = tf.cast(tf.constant(np.arange(30)), tf.float32)
    return tf.data.Dataset.from_tensor_slices(numbers).batch(4).repeat(2)


def one_batch():
    return tf.data.Dataset.from_tensor_slices(columns(5)).batch(8)


def large_batches():
    rows = np.arange(5000 * 3, dtype=np.int32).reshape([5000, 3])
    return tf.data.Dataset.from_tensor_slices(rows).shuffle(100, seed=1).repeat().batch(3000)


def shared_rows():
    rows = tf.data.Dataset.from_tensor_slices(np.arange(40)).shuffle(40, 2, False)
    return tf.data.Dataset.zip((rows.skip(4).batch(3), rows.take(9).batch(3)))


def constant_array():  # large enough to be an eager tensor beside the graph
    rows = np.arange(200_000, dtype=np.float32).reshape([-1, 2])
    return tf.data.Dataset.from_tensor_slices((rows, rows[:, 0])).batch(30_001)


GATHERED = {"RangeDataset", "MapDataset"}


def read_twice():
    batches = tf.data.Dataset.from_tensor_slices(columns(40)).repeat(2).batch(3)
    return tf.data.Dataset.zip((batches.prefetch(2), batches.prefetch(4).skip(1), batches))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (read_twice, GATHERED | {"RebatchDatasetV2", "PrefetchDataset", "Identity"}),
        (with_function, GATHERED | {"RebatchDatasetV2", "ShuffleDataset"}),
        (fed_by_a_cast, GATHERED | {"RebatchDatasetV2"}),
        (one_batch, {"TensorDataset"}),
        (large_batches, GATHERED | {"ShuffleDataset", "RepeatDataset"}),
        (shared_rows, GATHERED | {"RebatchDatasetV2", "SkipDataset", "TakeDataset"}),
        (constant_array, {"TensorSliceDataset", "TensorDataset", "ConcatenateDataset"}),
    ],
)
def test_datasets_are_rewritten(make, expected):
    assert expected <= ops(make)
    same(*both(make))


def unknown_rows():
    numbers = tf.unique(tf.constant([3, 1, 3, 2])).y
    return tf.data.Dataset.from_tensor_slices(numbers).batch(2)


def rows_of_a_map():
    return tf.data.Dataset.from_tensor_slices(np.arange(9.0)).map(tf.sqrt).batch(2)


def sparse_rows():
    rows = tf.sparse.from_dense(np.eye(6, dtype=np.float32))
    return tf.data.Dataset.from_tensor_slices(rows).batch(4)


def large_rows():
    rows = np.zeros([6, 5000], np.float32)
    return tf.data.Dataset.from_tensor_slices(rows).shuffle(6, seed=1).batch(2)


def in_parallel():
    return tf.data.Dataset.from_tensor_slices(np.arange(9)).batch(2, num_parallel_calls=2)


def nothing():
    return tf.data.Dataset.from_tensor_slices(np.zeros([0, 3])).batch(2)


def too_few():
    return tf.data.Dataset.from_tensor_slices(np.zeros([2, 3])).batch(3, drop_remainder=True)


def restarted_within_an_epoch():
    rows = tf.data.Dataset.from_tensor_slices(np.arange(25)).shuffle(8, seed=0).repeat()
    return rows.batch(13).take(30).repeat()


LEFT_ALONE = [
    restarted_within_an_epoch,
    unknown_rows,
    rows_of_a_map,
    sparse_rows,
    large_rows,
    in_parallel,
    nothing,
]


@pytest.mark.parametrize("make", LEFT_ALONE)
def test_other_datasets_are_left_alone(make):
    assert ops(make) == set()


def test_no_full_batch_is_none():
    same(*both(too_few))
    assert read_rewritten(too_few) == []


def read_rewritten(make):
    return both(make)[1]


def test_an_initializable_iterator_gets_the_rewritten_dataset():
    def numbers(keeps_positions):
        with trace_graph() as graph:
            dataset = tf.data.Dataset.from_tensor_slices(np.arange(90)).shuffle(20, 3).batch(7)
            iterator = v1.data.make_initializable_iterator(dataset)
            batch = iterator.get_next()
        session = LiftedSession(graph, tf.distribute.get_strategy())
        session.resources.inputs.keeps_positions = keeps_positions
        session.run(iterator.initializer)
        got = [session.run(batch).tolist() for _ in range(13)]
        session.close()
        return got

    assert numbers(True) == numbers(False)


@pytest.mark.parametrize("rows", [50, 40_000])
@pytest.mark.parametrize("is_outside", [False, True])
def test_a_one_shot_iterator_gets_the_rewritten_dataset(rows, is_outside):
    array = np.arange(rows * 2, dtype=np.float32).reshape([rows, 2])

    def batches(keeps_positions):
        with trace_graph(seed=5) as graph:
            with arrays_outside(graph) if is_outside else contextlib.nullcontext():
                dataset = tf.data.Dataset.from_tensor_slices((array, array[:, 0]))
                dataset = dataset.shuffle(20).repeat(2).batch(7)
                iterator = v1.data.make_one_shot_iterator(dataset)
            leaves = iterator.get_next()
        session = LiftedSession(graph, tf.distribute.get_strategy())
        session.resources.inputs.keeps_positions = keeps_positions
        spec = tuple(tf.TensorSpec(leaf.shape, leaf.dtype) for leaf in leaves)
        with eager_mode():
            got = read(dataset_of_tensors(session, leaves, spec))
        session.close()
        return got

    same(batches(True), batches(False))


def test_a_one_shot_iterator_shares_the_array_of_its_graph():
    array = np.ones([40_000, 2], np.float32)
    with trace_graph() as graph, arrays_outside(graph):
        dataset = tf.data.Dataset.from_tensor_slices(array).repeat().batch(7)
        v1.data.make_one_shot_iterator(dataset).get_next()
    snapshot = Snapshot.of(graph)
    (iterator,) = (n for n in snapshot.nodes.values() if n.op == "OneShotIterator")
    nodes = dataset_nodes(iterator, snapshot, graph)
    assert not any(node.op == "PyFuncStateless" for node in nodes)
    assert sum(node.ByteSize() for node in nodes) < 10_000
    rewritten = with_datasets_rewritten(snapshot.with_nodes(nodes), graph)
    assert "RebatchDatasetV2" in {node.op for node in rewritten.nodes.values()}


def test_a_one_shot_iterator_that_computes_is_left_alone():
    with trace_graph() as graph:
        numbers = tf.cast(tf.constant(np.arange(10)), tf.float32)
        dataset = tf.data.Dataset.from_tensor_slices(numbers).batch(7)
        v1.data.make_one_shot_iterator(dataset).get_next()
    snapshot = Snapshot.of(graph)
    (iterator,) = (n for n in snapshot.nodes.values() if n.op == "OneShotIterator")
    assert [n.op for n in dataset_nodes(iterator, snapshot, graph)] == ["PartitionedCall"]


def batches_of_batches():
    return tf.data.Dataset.from_tensor_slices(np.arange(12)).batch(3).batch(2)


def repeated():
    return tf.data.Dataset.from_tensor_slices(np.arange(90)).repeat().batch(7).prefetch(2)


@pytest.mark.parametrize(
    ("make", "is_off"),
    [
        (constant_array, True),
        (repeated, True),
        (with_function, False),
        (large_batches, True),
        (batches_of_batches, False),
    ],
)
def test_the_optimizer_is_off_where_it_would_only_copy_the_arrays(make, is_off):
    with trace_graph(seed=5) as graph:
        dataset = make()
        variant = tf.data.experimental.to_variant(dataset)
    session = LiftedSession(graph, tf.distribute.get_strategy())
    with eager_mode():
        datasets = [
            lifted_dataset(session, variant.name, dataset.element_spec),
            whole_dataset(session, variant.name, dataset.element_spec)[0],
        ]
        defaults = [
            d.options().experimental_optimization.apply_default_optimizations for d in datasets
        ]
        assert defaults == [None, False if is_off else None]
        same(*map(read, datasets))
    session.close()


def test_a_function_that_changes_its_batch_changes_no_other():
    def negate(x):
        np.negative(x, out=x)
        return x

    def make():
        rows = np.arange(1, 65, dtype=np.float32)
        batches = tf.data.Dataset.from_tensor_slices(rows).batch(16)  # aligned in memory
        return batches.repeat(3).map(lambda x: tf.numpy_function(negate, [x], tf.float32))

    plain, rewritten = both(make)
    same(plain, rewritten)
    assert all((batch < 0).all() for batch in rewritten)
