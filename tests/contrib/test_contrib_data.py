"""tf.contrib.data: the elements that its documentation shows, in graphs and in an estimator."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import data

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def elements(dataset, most=1000):
    """The first elements of a dataset of the default graph, as nested lists."""
    following = v1.data.make_one_shot_iterator(dataset).get_next()
    got = []
    with v1.Session() as session:
        while len(got) < most:
            try:
                value = session.run(following)
            except tf.errors.OutOfRangeError:
                break
            got.append(tf.nest.map_structure(lambda x: np.asarray(x).tolist(), value))
    return got


def numbers(count):
    return data.Dataset.range(count)


CASES = {
    "map_and_batch": (
        lambda: numbers(5).apply(data.map_and_batch(lambda x: x * 2, 2)),
        [[0, 2], [4, 6], [8]],
    ),
    "map_and_batch, whole batches": (
        lambda: numbers(5).apply(
            data.map_and_batch(lambda x: x * 2, 2, num_parallel_batches=2, drop_remainder=True)
        ),
        [[0, 2], [4, 6]],
    ),
    "map_and_batch, parallel calls": (
        lambda: numbers(4).apply(
            data.map_and_batch(lambda x: x, batch_size=2, num_parallel_calls=data.AUTOTUNE)
        ),
        [[0, 1], [2, 3]],
    ),
    "parallel_interleave": (
        lambda: data.Dataset.from_tensor_slices([1, 2]).apply(
            data.parallel_interleave(
                lambda x: data.Dataset.from_tensors(x).repeat(3),
                cycle_length=2,
                block_length=2,
                sloppy=False,
            )
        ),
        [1, 1, 2, 2, 1, 2],
    ),
    "batch_and_drop_remainder": (
        lambda: numbers(5).apply(data.batch_and_drop_remainder(2)),
        [[0, 1], [2, 3]],
    ),
    "padded_batch_and_drop_remainder": (
        lambda: (
            numbers(5)
            .map(lambda n: tf.fill([n], n))
            .apply(data.padded_batch_and_drop_remainder(2, [4], tf.constant(9, tf.int64)))
        ),
        [[[9, 9, 9, 9], [1, 9, 9, 9]], [[2, 2, 9, 9], [3, 3, 3, 9]]],
    ),
    "unbatch": (lambda: numbers(4).batch(3).apply(data.unbatch()), [0, 1, 2, 3]),
    "unique": (
        lambda: data.Dataset.from_tensor_slices([1, 2, 1, 3]).apply(data.unique()),
        [1, 2, 3],
    ),
    "enumerate": (lambda: numbers(2).apply(data.enumerate_dataset(5)), [(5, 0), (6, 1)]),
    "Counter": (lambda: data.Counter(3, 2).take(3), [3, 5, 7]),
    "scan": (
        lambda: numbers(4).apply(
            data.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total + x))
        ),
        [0, 1, 3, 6],
    ),
    "ignore_errors": (
        lambda: (
            data.Dataset.from_tensor_slices([1.0, 0.0, 2.0])
            .map(lambda x: tf.debugging.check_numerics(1.0 / x, "no number"))
            .apply(data.ignore_errors())
        ),
        [1.0, 0.5],
    ),
    "group_by_window": (
        lambda: numbers(8).apply(
            data.group_by_window(lambda x: x % 2, lambda key, window: window.batch(4), 4)
        ),
        [[0, 2, 4, 6], [1, 3, 5, 7]],
    ),
    "group_by_reducer": (
        lambda: numbers(6).apply(
            data.group_by_reducer(
                lambda x: x % 2,
                data.Reducer(lambda key: key * 0, lambda total, x: total + x, lambda total: total),
            )
        ),
        [6, 9],
    ),
    "bucket_by_sequence_length": (
        lambda: (
            numbers(6)
            .map(lambda n: tf.fill([n], n))
            .apply(data.bucket_by_sequence_length(tf.size, [3], [2, 3]))
        ),
        [[[0], [1]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0], [5, 5, 5, 5, 5]], [[2, 2]]],
    ),
    "choose_from_datasets": (
        lambda: data.choose_from_datasets(
            [numbers(3), numbers(9).skip(5)],
            data.Dataset.from_tensor_slices(np.int64([1, 0, 1, 0])),
        ),
        [5, 0, 6, 1],
    ),
    "sample_from_datasets": (
        lambda: data.sample_from_datasets([numbers(9), numbers(3)], weights=[0.0, 1.0]).take(3),
        [0, 1, 2],
    ),
    "sliding_window_batch": (
        lambda: numbers(4).apply(data.sliding_window_batch(3)),
        [[0, 1, 2], [1, 2, 3]],
    ),
    "sliding_window_batch, shift": (
        lambda: numbers(7).apply(data.sliding_window_batch(3, window_shift=2)),
        [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
    ),
    "sliding_window_batch, old name": (
        lambda: numbers(6).apply(data.sliding_window_batch(3, 3)),
        [[0, 1, 2], [3, 4, 5]],
    ),
    "sliding_window_batch, stride": (
        lambda: numbers(6).apply(data.sliding_window_batch(3, window_stride=2)),
        [[0, 2, 4], [1, 3, 5]],
    ),
    "sliding_window_batch of a structure": (
        lambda: data.Dataset.zip((numbers(3), {"x": numbers(5).skip(2)})).apply(
            data.sliding_window_batch(2)
        ),
        [([0, 1], {"x": [2, 3]}), ([1, 2], {"x": [3, 4]})],
    ),
    "TextLineDataset": (lambda: data.TextLineDataset([]), []),
}


@pytest.mark.parametrize("name", CASES)
def test_elements(name, graph):
    make, expected = CASES[name]
    assert elements(make()) == expected


def test_shapes_are_static_where_they_were(graph):
    for dataset in (
        numbers(5).apply(data.batch_and_drop_remainder(2)),
        numbers(5).apply(data.map_and_batch(lambda x: x, 2, drop_remainder=True)),
        numbers(5).apply(data.sliding_window_batch(2)),
    ):
        assert v1.data.get_output_shapes(dataset).as_list() == [2]


def test_shuffle_and_repeat_keeps_epochs_apart(graph):
    got = elements(numbers(5).apply(data.shuffle_and_repeat(5, count=3, seed=1)))
    assert [sorted(got[i : i + 5]) for i in (0, 5, 10)] == [[0, 1, 2, 3, 4]] * 3
    assert got != list(range(5)) * 3


def test_sloppy_interleave_and_random_data_have_all_elements(graph):
    dataset = numbers(2).apply(data.sloppy_interleave(lambda x: numbers(3), cycle_length=2))
    assert sorted(elements(dataset)) == [0, 0, 1, 1, 2, 2]
    assert len(set(elements(data.RandomDataset(seed=3).take(4)))) == 4


def test_rejection_resample(graph):
    skewed = data.Dataset.from_tensor_slices([0, 0, 0, 1]).repeat(200)
    balanced = skewed.apply(data.rejection_resample(lambda x: x, [0.5, 0.5], [0.75, 0.25], seed=1))
    classes = [kind for kind, _ in elements(balanced)]
    np.testing.assert_allclose(np.mean(classes), 0.5, atol=0.12)


def test_assert_element_shape(graph):
    rows = numbers(3).map(lambda n: tf.fill([n + 1], n))
    checked = rows.apply(data.assert_element_shape(tf.TensorShape([3])))
    assert v1.data.get_output_shapes(checked).as_list() == [3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(checked)
    assert len(elements(rows.apply(data.assert_element_shape(tf.TensorShape([None]))))) == 3
    assert len(elements(rows.apply(data.assert_element_shape(tf.TensorShape(None))))) == 3


def test_a_dataset_as_one_value(graph):
    reducer = data.Reducer(
        lambda _: tf.constant(1, tf.int64), lambda product, x: product * (x + 1), lambda p: -p
    )
    with v1.Session() as session:
        assert session.run(data.reduce_dataset(numbers(4), reducer)) == -24
        assert session.run(data.get_single_element(numbers(3).batch(3))).tolist() == [0, 1, 2]


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "x.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(6):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            features = tf.train.Features(feature={"x": feature})
            writer.write(tf.train.Example(features=features).SerializeToString())
    return path


def test_parsed_files(graph, records, tmp_path):
    spec = {"x": tf.io.FixedLenFeature([], tf.int64)}
    batch = data.read_batch_features(records, 4, spec, randomize_input=False, num_epochs=1)
    parsed = data.TFRecordDataset(records).batch(6).apply(data.parse_example_dataset(spec))
    assert elements(parsed) == [{"x": [0, 1, 2, 3, 4, 5]}]
    with v1.Session() as session:
        assert session.run(batch)["x"].tolist() == [0, 1, 2, 3]
        assert session.run(batch)["x"].tolist() == [4, 5]
        copy = str(tmp_path / "copy")
        session.run(data.TFRecordWriter(copy).write(data.TFRecordDataset(records)))
    assert len(list(v1.io.tf_record_iterator(copy))) == 6


def test_csv(graph, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    rows = data.CsvDataset(str(path), [tf.int32, tf.string], header=True)
    assert elements(rows) == [(1, b"x"), (2, b"y")]
    dataset = data.make_csv_dataset(str(path), 2, label_name="a", num_epochs=1, shuffle=False)
    assert elements(dataset) == [({"b": [b"x", b"y"]}, [1, 2])]


@pytest.mark.parametrize("cores", [0, 2])
def test_an_input_fn_of_2018(records, cores, tmp_path):
    """The pipeline of tensorflow/tpu's ResNet: interleaved files, shuffled, parsed and batched."""

    def input_fn(params):
        dataset = tf.data.Dataset.list_files(records, shuffle=False)
        dataset = dataset.apply(data.parallel_interleave(tf.data.TFRecordDataset, 1, sloppy=True))
        dataset = dataset.apply(data.shuffle_and_repeat(6, seed=1))

        def parse(record):
            x = tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature([1], tf.int64)})
            return tf.cast(x["x"], tf.float32), tf.zeros([1])

        return dataset.apply(
            data.map_and_batch(
                parse, params["batch_size"], num_parallel_batches=2, drop_remainder=True
            )
        ).prefetch(data.AUTOTUNE)

    def model_fn(features, labels, mode, params):
        total = v1.get_variable("total", [], initializer=v1.zeros_initializer())
        both = eb.tpu.cross_replica_sum(tf.reduce_sum(features + labels))
        step = v1.assign_add(v1.train.get_global_step(), 1)
        train_op = tf.group(v1.assign_add(total, both), step)
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    config = eb.tpu.RunConfig(master=f"emulated:{cores or 1}", model_dir=str(tmp_path / "model"))
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=6, use_tpu=bool(cores)
    )
    estimator.train(input_fn, steps=3)
    assert estimator.get_variable_value("total") == 3 * 15.0
