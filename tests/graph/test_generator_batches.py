"""Batches of a Python generator's examples, drawn by one call: equal elements, drawn when due."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.graph import Snapshot, trace_graph
from estimator_bridge.graph.dataset_rewrites import makes_batches, with_datasets_rewritten

import tensorflow as tf  # isort: skip
from rewritten_datasets import both, lifted, same  # isort: skip

from_generator = tf.data.Dataset.from_generator
WIDTH = 3
ROWS = np.arange(200 * WIDTH).reshape(-1, WIDTH)
SPEC = tf.TensorSpec([WIDTH], tf.float32), tf.TensorSpec([], tf.int32)


class Source:
    """A generator that notes how many examples it has yielded, and how often it was called."""

    def __init__(self, count=43):
        self.count, self.drawn, self.calls, self.closed = count, 0, 0, 0

    def __call__(self):
        self.calls += 1
        try:
            for i in range(self.count):
                self.drawn += 1
                yield ROWS[i], i
        finally:
            self.closed += 1


def has_moved(make):
    """Returns whether a dataset's graph is rewritten."""
    with trace_graph() as graph:
        variant = tf.data.experimental.to_variant(make())
    snapshot = Snapshot.of(graph)
    del variant
    is_asked = makes_batches(snapshot, snapshot.nodes)
    return is_asked and with_datasets_rewritten(snapshot, graph) is not snapshot


def in_turn():
    """Returns the options of an input that somebody may watch: tf.data adds no thread."""
    options = tf.data.Options()
    rewrites = options.experimental_optimization
    rewrites.inject_prefetch = rewrites.map_parallelization = False
    rewrites.map_and_batch_fusion = rewrites.parallel_batch = False
    return options


def noted(make, source, most=30):
    """Returns, for a dataset as it is and as it is rewritten, its batches and the draws of each."""
    results = []
    for keeps_positions in (True, False):
        source.__init__(source.count)
        batches, draws = [], []
        with lifted(make, keeps_positions) as dataset:
            iterator = iter(dataset.with_options(in_turn()))
            for _ in range(most):
                try:
                    batches.append(tf.nest.map_structure(lambda t: t.numpy(), next(iterator)))
                except StopIteration:
                    break
                draws.append((source.drawn, source.calls))
            del iterator
        has_ended = len(batches) < most  # otherwise its iterator is deleted at any time
        results.append((batches, draws, source.drawn, source.calls, has_ended and source.closed))
    return results


def halves(row, label):
    """A map that has no form for batches."""
    return tf.sqrt(row), label


PIPELINES = {
    "batch": lambda d: d.batch(8),
    "drop_remainder": lambda d: d.batch(8, drop_remainder=True),
    "one": lambda d: d.batch(1),
    "larger than all": lambda d: d.batch(1000),
    "repeat": lambda d: d.repeat(3).batch(8),
    "endless": lambda d: d.repeat().batch(8),
    "endless, drop_remainder": lambda d: d.repeat().batch(8, drop_remainder=True),
    "repeated batches": lambda d: d.batch(8).repeat(2),
    "shuffle": lambda d: d.shuffle(10, seed=3).batch(8),
    "a shuffle of all": lambda d: d.shuffle(100, seed=3).batch(8),
    "a shuffle of one": lambda d: d.shuffle(1, seed=3).batch(8),
    "a shuffle of an endless input": lambda d: d.repeat().shuffle(13, seed=3).batch(5),
    "shuffle and repeat": lambda d: d.shuffle(10, seed=3).repeat(3).batch(8),
    "shuffle and repeat without end": lambda d: d.shuffle(50, seed=3).repeat().batch(5),
    "each twice, shuffled, three times": lambda d: (
        d.repeat(2).shuffle(9, seed=3).repeat(3).batch(6)
    ),
    "map": lambda d: d.map(halves).batch(8),
    "map and repeat": lambda d: d.map(halves).repeat(2).batch(8),
    "shuffle, map and repeat": lambda d: d.shuffle(6, seed=3).map(halves).repeat().batch(8),
    "map and shuffle": lambda d: d.map(halves).shuffle(20, seed=3).batch(8, drop_remainder=True),
    "a map of batches": lambda d: d.map(lambda row, label: (row * 2.0, label)).batch(8),
    "map and repeated batches": lambda d: d.map(halves).batch(8).repeat(2),
    "map after batch": lambda d: d.batch(8).map(halves),
    "padded": lambda d: d.padded_batch(8, ([None], [])),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_batches_are_equal_and_draw_what_they_drew(name):
    source = Source()
    pipeline = PIPELINES[name]

    def make():
        return pipeline(from_generator(source, output_signature=SPEC))

    assert has_moved(make)
    as_it_is, rewritten = noted(make, source)
    same(as_it_is[0], rewritten[0])
    assert as_it_is[1:] == rewritten[1:]


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda d: d.map(halves, num_parallel_calls=2).batch(8),
        lambda d: d.batch(8, num_parallel_calls=2),
        lambda d: d.batch(8).prefetch(2),
        lambda d: d.apply(tf.data.experimental.map_and_batch(halves, 8)),
    ],
)
def test_batches_that_are_drawn_ahead_are_equal(pipeline):
    def make():
        return pipeline(from_generator(Source(), output_signature=SPEC))

    assert has_moved(make)
    same(*both(make))


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda d: d,
        lambda d: d.filter(lambda row, label: label > 3).batch(8),
        lambda d: d.take(7).batch(8),
        lambda d: d.map(halves).batch(8).ignore_errors(),
        lambda d: d.shuffle(9, seed=1).shuffle(9, seed=1).batch(8),
        lambda d: d.batch(tf.compat.v1.placeholder_with_default(np.int64(3), [])),
    ],
)
def test_other_datasets_are_left_alone(pipeline):
    assert not has_moved(lambda: pipeline(from_generator(Source(), output_signature=SPEC)))


ELEMENTS = {
    "one component": ([[1.5], [2.5], [3.5]], tf.TensorSpec([1], tf.float64)),
    "texts": (["a", "long text", "", "\u00e4"], tf.TensorSpec([], tf.string)),
    "lists of texts": ([["a", "b"], ["", "cde"]], tf.TensorSpec([2], tf.string)),
    "arrays of texts": (list(np.array([["a", "bc"], ["d", ""]])), tf.TensorSpec([2], tf.string)),
    "bytes": ([b"a\0", b"\0b\0"], tf.TensorSpec([], tf.string)),
    "a dict": (
        [{"x": i, "b": (float(i), i > 1)} for i in range(5)],
        {
            "b": (tf.TensorSpec([], tf.float16), tf.TensorSpec([], tf.bool)),
            "x": tf.TensorSpec([], tf.uint8),
        },
    ),
    "lists for tuples of other sizes": (
        [[1, 2], (3, 4), np.array([5, 6])],
        tf.TensorSpec([2], tf.int64),
    ),
    "half numbers": ([0.1, np.float32(0.3), np.float64(1e9)], tf.TensorSpec([], tf.bfloat16)),
    "other types": ([(1, 2.7), (np.int8(3), "4"), (True, -0.9)], SPEC[1:] * 2),
    "numbers out of range": ([1, 1 << 40, -1], tf.TensorSpec([], tf.int32)),
    "complex": ([1j, 2, 3.5], tf.TensorSpec([], tf.complex64)),
    "tensors": ([np.float32(1), np.ones([], "f")], tf.TensorSpec([], tf.float32)),
    "no rows": ([np.zeros([0, 2]), np.zeros([0, 2])], tf.TensorSpec([0, 2], tf.float32)),
    "an unknown shape": (
        [(np.ones([2, 3]), 1), (np.zeros([2, 3]), 2)],
        (tf.TensorSpec(None, tf.float32), tf.TensorSpec([], tf.int32)),
    ),
    "nothing": ([], tf.TensorSpec([], tf.float32)),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_of_each_kind_are_equal(name):
    elements, spec = ELEMENTS[name]

    def make():
        return from_generator(lambda: iter(elements), output_signature=spec).batch(2)

    assert has_moved(make)
    same(*both(make))


def test_named_tuples_are_equal():
    pair = collections.namedtuple("pair", "row label")

    def make():
        pairs = (pair(row, i) for i, row in enumerate(ROWS[:9]))
        return from_generator(lambda: pairs, pair(tf.int64, tf.int32)).batch(4)

    results = []
    for run in range(2):
        results.append(both(make)[run])
    same(*results)


def test_a_generator_may_reuse_its_array():
    def examples():
        row = np.zeros([WIDTH], np.float32)
        for i in range(20):
            row[:] = i
            yield row, i

    for pipeline in (
        lambda d: d.batch(8),
        lambda d: d.padded_batch(8, ([None], [])),
        lambda d: d.map(halves).batch(4),
    ):
        _, rewritten = both(lambda p=pipeline: p(from_generator(examples, output_signature=SPEC)))
        labels = np.concatenate([label for _, label in rewritten])
        rows = np.concatenate([row[:, 0] for row, _ in rewritten])
        expected = np.sqrt(np.float32(labels)) if rewritten[0][0].shape[0] == 4 else labels
        np.testing.assert_array_equal(rows, expected)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_lengths_that_differ_are_padded_or_split_as_before(data):
    lengths = data.draw(st.lists(st.integers(0, 4), max_size=20))
    size, padding = data.draw(st.integers(1, 6)), data.draw(st.sampled_from([0, -1]))
    passes = data.draw(st.sampled_from([1, 2, -1]))
    drops = data.draw(st.booleans())
    kind = data.draw(st.sampled_from(["padded", "map", "shuffle"]))
    spec = tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.string)

    def examples():
        for i, length in enumerate(lengths):
            yield list(range(length)), str(i)

    def make():
        dataset = from_generator(examples, output_signature=spec).repeat(passes)
        if kind == "map":
            dataset = dataset.map(lambda row, text: (tf.cumsum(row), text))
        if kind == "shuffle":
            dataset = dataset.shuffle(7, seed=2).repeat(2)
        values = tf.constant(padding), tf.constant("-")
        return dataset.padded_batch(size, ([None], []), values, drop_remainder=drops)

    same(*both(make))


def failures(make):
    """Returns the batches before the error of a dataset, and the error: as it is, and rewritten."""
    results = []
    for keeps_positions in (True, False):
        batches = []
        with lifted(make, keeps_positions) as dataset:
            iterator = iter(dataset.with_options(in_turn()))
            with pytest.raises(tf.errors.OpError) as caught:
                for batch in iterator:
                    batches.append(tf.nest.map_structure(lambda t: t.numpy(), batch))
            batches += [tf.nest.map_structure(lambda t: t.numpy(), b) for b in iterator]
        results.append((batches, caught.value))
    (batches, error), (other_batches, other_error) = results
    same(batches, other_batches)
    assert type(error) is type(other_error)
    return str(error), str(other_error)


def raising(*elements):
    """Returns a generator that yields rows, these elements and rows; it raises exceptions."""

    def examples():
        for element in (*zip(ROWS[:9], range(9)), *elements, *zip(ROWS[9:18], range(9))):
            if isinstance(element, Exception):
                raise element
            yield element

    return examples


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ([KeyError("no such row")], "KeyError: 'no such row'"),
        ([ValueError("a bad row")], "ValueError: a bad row"),
        ([RuntimeError("lost")], "RuntimeError: lost"),
        ([(ROWS[0],)], "did not match the expected structure"),
        ([ROWS[0]], "did not match the expected structure"),
        ([(ROWS[0][:2], 1)], "of shape (2,) where an element of shape (3,) was expected"),
        ([(ROWS[0], "x")], "could not be converted to the expected type"),
        ([(ROWS[0], 1 << 70)], "int too large"),
    ],
)
@pytest.mark.parametrize("maps", [False, True])
def test_errors_are_those_of_tensorflow(elements, words, maps):
    def make():
        dataset = from_generator(raising(*elements), output_signature=SPEC)
        return (dataset.map(halves) if maps else dataset).batch(4)

    for text in failures(make):
        assert words in text


def test_rows_of_different_shapes_cannot_be_batched():
    spec = tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)

    def make():
        return from_generator(raising((ROWS[0][:2], 7)), output_signature=spec).batch(4)

    for text in failures(make):
        assert (
            "Cannot batch tensors with different shapes in component 0. First element had shape "
            "[3] and element 1 had shape [2]." in text
        )


def test_rows_of_different_ranks_cannot_be_padded():
    def make():
        dataset = from_generator(lambda: iter([([1], 1), ([[2]], 2)]), (tf.int32, tf.int32))
        return dataset.padded_batch(2, ([None], []))

    for text in failures(make):
        assert "for component0: expected rank 1 but got element with rank 2" in text


def test_a_generator_with_arguments_gets_them_in_each_pass():
    def examples(start, word):
        for i in range(5):
            yield start + i, word

    def make():
        args = tf.constant(7), tf.constant("a")
        return from_generator(examples, (tf.int32, tf.string), args=args).repeat(2).batch(4)

    assert has_moved(make)
    same(*both(make))
