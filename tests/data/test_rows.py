"""The order in which rows in memory are read."""

from unittest import mock

import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.data import rows as rows_module
from estimator_bridge.data.rows import Reading, Rows


def rows(count):
    return Rows(count, [tf.int64], [()], lambda numbers: [numbers * 10])


def read(reading, most=None):
    dataset = reading.dataset()
    dataset = dataset if most is None else dataset.take(most)
    return [numbers.tolist() for numbers, _ in dataset.as_numpy_iterator()]


@settings(deadline=None, max_examples=30)
@given(
    count=st.integers(1, 8),
    size=st.integers(1, 10),
    epochs=st.integers(0, 3),
    among=st.sampled_from([1, 4, 100]),
)
def test_a_reader_starts_anywhere_and_reads_each_epoch_whole(count, size, epochs, among):
    reading = Reading.make(rows(count), size, epochs, 1, among, (3, 4))
    chunks = [chunk.tolist() for chunk in reading.chunks()]
    assert all(len(chunk) == size for chunk in chunks[:-1])
    flat = [number for chunk in chunks for number in chunk]
    assert flat == [(reading.start + i) % count for i in range(count * epochs)]
    dealt = [number for batch in read(reading) for number in batch]
    assert sorted(dealt) == sorted(flat)
    assert among > 1 or dealt == flat


@settings(deadline=None, max_examples=20)
@given(
    count=st.integers(1, 30),
    size=st.integers(1, 10),
    epochs=st.integers(1, 3) | st.none(),
    among=st.sampled_from([1, 4, 100]),
    block=st.sampled_from([9, 2048]),
)
def test_blocks_give_the_same_batches(count, size, epochs, among, block):
    reading = Reading.make(rows(count), size, epochs, 2, among, (3, 4))
    with mock.patch.object(rows_module, "_BLOCK_ROWS", block):
        blocks, singly = reading.dataset(), reading.dataset(in_blocks=False)
    assert blocks.element_spec == singly.element_spec
    read_both = [
        [tuple(part.tolist() for part in batch) for batch in dataset.take(50).as_numpy_iterator()]
        for dataset in (blocks, singly)
    ]
    assert read_both[0] == read_both[1]


def test_rows_are_taken_once_for_several_batches():
    counts = []

    def take(numbers):
        counts.append(len(numbers))
        return [numbers]

    dataset = Reading.make(Rows(5000, [tf.int64], [()], take), 32, 1, 1, 1, (1, 2)).dataset()
    sizes = [len(numbers) for numbers, _ in dataset.as_numpy_iterator()]
    assert sizes == [32] * 156 + [8]
    assert sorted(counts) == [904, 2048, 2048]  # tf.data takes them in parallel


def test_columns_go_with_their_numbers():
    reading = Reading.make(rows(20), 7, None, 1, 10, (0, 0))
    for numbers, column in reading.dataset().take(4).as_numpy_iterator():
        assert column.tolist() == (numbers * 10).tolist()
    assert [s.shape.as_list() for s in reading.dataset().element_spec] == [[7], [7]]


def test_the_position_can_be_saved(tmp_path):
    for among in (1, 10):
        dataset = Reading.make(rows(20), 3, 4, 1, among, (1, 2)).dataset()
        iterator = iter(dataset)
        for _ in range(5):
            next(iterator)
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "at"))
        rest = [numbers.numpy().tolist() for numbers, _ in iterator]
        again = iter(dataset)
        tf.train.Checkpoint(iterator=again).restore(path)
        assert [numbers.numpy().tolist() for numbers, _ in again] == rest
        assert len(rest) == 22


def test_seeds_choose_the_start_and_the_order():
    def shuffled(seeds):
        reading = Reading.make(rows(1000), 50, 1, 1, 100, seeds)
        return reading.start, read(reading, 1)

    assert shuffled((1, 2)) == shuffled((1, 2)) != shuffled((1, 3))
    assert shuffled((0, 0)) != shuffled((0, 0))
    assert np.unique(read(Reading.make(rows(10), 5, 1, 1, 1, (1, 2)))).size == 10
