"""Small data sets in memory: training shuffles whole epochs, and goes on midway."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.common.in_memory import Split, input_fn_of
from models.common.task import InputRequest


def split_of(rows, row_size=1):
    numbers = np.arange(rows, dtype=np.float32)[:, np.newaxis]
    columns = {f"column{i}": np.tile(numbers + 100 * i, row_size) for i in range(3)}
    return Split(columns, np.arange(rows, dtype=np.int64))


def batches(splits, request, params=None):
    return input_fn_of(splits, request)(params)


def labels(dataset, count):
    return [batch[1].tolist() for batch in dataset.take(count).as_numpy_iterator()]


def rows_of(dataset, count):
    return [row for batch in labels(dataset, count) for row in batch]


@settings(deadline=None, max_examples=25)
@given(
    rows=st.integers(1, 70),
    batch_size=st.integers(1, 90),
    seed=st.integers(0, 5),
    first=st.none() | st.integers(1, 70),
)
def test_each_epoch_has_every_row_in_an_order_of_the_seed(rows, batch_size, seed, first):
    request = InputRequest("train", True, batch_size, seed=seed, first=first)
    size = min(rows, first or rows)
    count = -(-3 * size // batch_size)
    order, again = (rows_of(batches({"train": split_of(rows)}, request), count) for _ in range(2))
    assert order == again
    epochs = [order[size * i : size * (i + 1)] for i in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(size))] * 3
    assert size < 8 or epochs[0] != epochs[1]


def test_the_columns_of_a_row_stay_together():
    request = InputRequest("train", True, 8, seed=1)
    for features, numbers in batches({"train": split_of(50)}, request).take(20).as_numpy_iterator():
        for i in range(3):
            np.testing.assert_array_equal(features[f"column{i}"][:, 0], numbers + 100 * i)


@pytest.mark.parametrize("seed", [3, None])
@pytest.mark.parametrize("row_size", [1, 2000])  # blocks of many batches, and of one batch
def test_training_goes_on_at_a_saved_position(tmp_path, row_size, seed):
    request = InputRequest("train", True, 160, seed=seed)
    dataset = batches({"train": split_of(500, row_size)}, request)
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    path = tf.train.Checkpoint(input=iterator).write(str(tmp_path / "position"))
    expected = [next(iterator)[1].numpy().tolist() for _ in range(20)]
    later = iter(batches({"train": split_of(500, row_size)}, request))
    tf.train.Checkpoint(input=later).read(path)
    assert [next(later)[1].numpy().tolist() for _ in range(20)] == expected


def test_no_rows_are_no_batches():
    request = InputRequest("train", True, 8, seed=1)
    assert labels(batches({"train": split_of(0)}, request), 3) == []


def test_batches_have_the_size_that_the_estimator_gives_and_a_static_shape():
    request = InputRequest("train", True, 8, seed=1)
    dataset = batches({"train": split_of(50)}, request, {"batch_size": 4})
    features, labels = dataset.element_spec
    assert labels.shape == [4] and features["column0"].shape == [4, 1]


def test_evaluation_reads_each_row_once_and_in_order():
    request = InputRequest("test", False, 8)
    assert rows_of(batches({"test": split_of(20)}, request), -1) == list(range(20))


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_strategy_that_distributes_the_dataset_gets_whole_batches(replicas):
    """tf.distribute drops a rebatch at a dataset's end."""
    request = InputRequest("train", True, 8, seed=1)
    dataset = batches({"train": split_of(50)}, request)
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
    order = []
    for _, (_, numbers) in zip(range(25), strategy.experimental_distribute_dataset(dataset)):
        parts = strategy.experimental_local_results(numbers)
        assert [part.shape for part in parts] == [[8 // replicas]] * replicas
        order += [row for part in parts for row in part.numpy().tolist()]
    assert order == rows_of(dataset, 25)
    assert sorted(order) == sorted([*range(50)] * 4)
