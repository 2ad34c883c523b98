"""tf.contrib.training.bucket and bucket_by_sequence_length: the composition of batches."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import training

v1 = tf.compat.v1


def batches(build, lengths):
    """All batches of examples [n, n, ...] of these lengths, until the queues are closed."""
    with tf.Graph().as_default(), v1.Session() as session:
        length = v1.train.input_producer(
            tf.constant(lengths), num_epochs=1, shuffle=False
        ).dequeue()
        fetches = build(length, tf.fill([length], length))
        session.run(v1.local_variables_initializer())
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        values = []
        try:
            while True:
                values.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
        return values


@pytest.mark.parametrize("is_smaller", [False, True])
def test_by_sequence_length(is_smaller):
    def build(length, words):
        return training.bucket_by_sequence_length(
            length,
            {"words": words},
            2,
            [3, 5],
            dynamic_pad=True,
            allow_smaller_final_batch=is_smaller,
        )

    buckets = batches(build, [1, 4, 7, 3, 2, 6, 5])
    together = sorted(sorted(lengths.tolist()) for lengths, _ in buckets)
    assert [1, 2] in together and [3, 4] in together
    if is_smaller:
        assert sorted(n for batch in together for n in batch) == [1, 2, 3, 4, 5, 6, 7]
    else:
        assert all(len(batch) == 2 for batch in together)
    for lengths, batch in buckets:
        expected = np.zeros([len(lengths), max(lengths)])
        for row, n in zip(expected, lengths):
            row[:n] = n
        (words,) = batch["words"]  # a list, as a dict with one key has in the original
        np.testing.assert_array_equal(words, expected)


def test_buckets_of_sizes_of_their_own():
    def build(length, words):
        return training.bucket([length], length % 2, [2, 3], 2, keep_input=length < 9)

    buckets = batches(build, [0, 1, 9, 2, 3, 5, 4, 11, 6])
    assert sorted((int(which), values.tolist()) for which, values in buckets) == [
        (0, [0, 2]),
        (0, [4, 6]),
        (1, [1, 3, 5]),
    ]


def test_a_sparse_tensor_is_batched_as_one():
    def build(length, words):
        sparse = tf.SparseTensor([[0], [2]], tf.stack([length, -length]), [3])
        which, batch = training.bucket([length, sparse], 0, 2, 1)
        assert batch[1].shape.rank == 2
        return which, tf.sparse.to_dense(batch[1])

    ((_, dense),) = batches(build, [4, 5])
    assert dense.tolist() == [[4, 0, -4], [5, 0, -5]]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda x: training.bucket([], 0, 2, 2), ValueError, "at least one tensor"),
        (lambda x: training.bucket([x], 0, [2], 2), ValueError, "1 sizes and 2 buckets"),
        (
            lambda x: training.bucket([x], 0, 2, 2, bucket_capacities=[1]),
            ValueError,
            "must have exactly num_buckets",
        ),
        (lambda x: training.bucket([x], 0, 2, 2), ValueError, "must be fully defined"),
        (
            lambda x: training.bucket_by_sequence_length(1, [x], 2, [5, 3]),
            ValueError,
            "increasing lengths, but saw: 5 before 3",
        ),
        (
            lambda x: training.bucket_by_sequence_length(1, [x], 2, []),
            ValueError,
            "must not be empty",
        ),
        (
            lambda x: training.bucket_by_sequence_length(1, [x], 2, 5),
            TypeError,
            "must be a list or tuple",
        ),
        (
            lambda x: training.bucket_by_sequence_length(1, [x], 2, [1.5]),
            TypeError,
            "must be integers",
        ),
    ],
)
def test_mistakes(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make(v1.placeholder(tf.float32, [None]))
