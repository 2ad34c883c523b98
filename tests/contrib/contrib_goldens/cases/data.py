"""tf.contrib.data: the first elements of datasets, in a graph."""

import os
import sqlite3
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case, Steps

data = tf.contrib.data


def counted(count):
    return tf.data.Dataset.range(count)


def elements(dataset, count):
    """Fetches the next element, a number of times."""
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    return Steps([following] * count)


def initialized(dataset, count):
    """The same for a dataset that has a table, or a state."""
    iterator = tf.data.make_initializable_iterator(dataset)
    return Steps([iterator.initializer] + [iterator.get_next()] * count)


def applied(transformation, of=lambda: counted(7), count=3):
    return Case(lambda: elements(of().apply(transformation()), count), has_gradients=False)


def of(make, count=3):
    return Case(lambda: elements(make(), count), has_gradients=False)


def file_with(content):
    path = os.path.join(tempfile.mkdtemp(), "file")
    with open(path, "wb") as file:
        file.write(content)
    return path


def examples():
    """A file of records with serialized examples."""
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(4):
            x = tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5]))
            y = tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2]))
            features = tf.train.Features(feature={"x": x, "y": y})
            writer.write(tf.train.Example(features=features).SerializeToString())
    return path


FEATURES = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}


def table():
    path = os.path.join(tempfile.mkdtemp(), "table.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (name TEXT, age INTEGER)")
        connection.execute("INSERT INTO people VALUES ('Ann', 30), ('Bob', 20)")
    return path


def sums():
    """A reducer that adds up the elements of a group."""
    zero = np.int64(0)
    return data.Reducer(lambda key: zero, lambda state, value: state + value, lambda state: state)


def written_records():
    path = os.path.join(tempfile.mkdtemp(), "written")
    words = tf.data.Dataset.from_tensor_slices(["one", "two"])
    write = data.TFRecordWriter(path).write(words)
    return Steps([write, tf.data.make_one_shot_iterator(tf.data.TFRecordDataset(path)).get_next()])


def optional():
    iterator = tf.data.make_one_shot_iterator(counted(1))
    first = data.get_next_as_optional(iterator)
    return Steps([(first.has_value(), first.get_value())])


def valued_optional():
    some = data.Optional.from_value(3)
    return some.has_value(), some.get_value(), isinstance(some, data.Optional)


def saveable():
    """Saves and restores the iterator's position, in between two elements."""
    iterator = tf.data.make_initializable_iterator(counted(4))
    saveable_object = data.make_saveable_from_iterator(iterator)
    following = iterator.get_next()
    restore = saveable_object.restore([each.tensor for each in saveable_object.specs], None)
    return Steps([iterator.initializer, following, restore, following])


def chosen():
    choices = tf.data.Dataset.from_tensor_slices(np.array([1, 0, 1], np.int64))
    return data.choose_from_datasets([counted(3), counted(9).skip(5)], choices)


def interleaved(kind, **options):
    return lambda: kind(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2, **options
    )


def rows():
    return tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32).reshape(3, 2))


def ragged():
    return counted(5).map(lambda n: tf.fill([tf.cast(n, tf.int32)], n))


def csv():
    path = file_with(b"a,b\n1,x\n2,y\n3,z\n")
    return data.make_csv_dataset(path, 2, shuffle=False, num_epochs=1)


def rejected():
    """Elements of class 1 only, since the target has no others."""
    labels = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0, 1, 1], np.int64))
    resample = data.rejection_resample(lambda x: x, [0.0, 1.0], [0.5, 0.5], seed=1)
    return labels.repeat().apply(resample)


CASES = {
    "data.AUTOTUNE": lambda: data.AUTOTUNE,
    "data.Counter": of(lambda: data.Counter(start=3, step=2)),
    "data.CsvDataset": of(
        lambda: data.CsvDataset(file_with(b"a,b\n1,x\n2,y\n"), [tf.int32, tf.string], header=True),
        2,
    ),
    "data.Optional": Case(valued_optional, has_gradients=False),
    "data.RandomDataset": of(lambda: data.RandomDataset(seed=3).map(lambda x: x >= 0)),
    "data.Reducer": Case(lambda: sums().init_func(1)),
    "data.SqlDataset": of(
        lambda: data.SqlDataset(
            "sqlite", table(), "SELECT * FROM people ORDER BY age", (tf.string, tf.int32)
        ),
        2,
    ),
    "data.TFRecordWriter": Case(written_records, has_gradients=False),
    "data.assert_element_shape": applied(lambda: data.assert_element_shape((2,)), rows, 2),
    "data.assert_element_shape: other": applied(lambda: data.assert_element_shape((3,)), rows, 1),
    "data.batch_and_drop_remainder": applied(lambda: data.batch_and_drop_remainder(3), count=2),
    "data.bucket_by_sequence_length": applied(
        lambda: data.bucket_by_sequence_length(tf.size, [2, 4], [2, 2, 1]), ragged
    ),
    "data.choose_from_datasets": of(chosen),
    "data.copy_to_device": Case(
        lambda: initialized(counted(3).apply(data.copy_to_device("/cpu:0")), 2),
        has_gradients=False,
    ),
    "data.dense_to_sparse_batch": applied(lambda: data.dense_to_sparse_batch(2, [4]), ragged, 2),
    "data.enumerate_dataset": applied(lambda: data.enumerate_dataset(5), rows, 2),
    "data.get_next_as_optional": Case(optional, has_gradients=False),
    "data.get_single_element": Case(
        lambda: data.get_single_element(counted(9).skip(4).take(1)), has_gradients=False
    ),
    "data.group_by_reducer": applied(
        lambda: data.group_by_reducer(lambda x: x % 2, sums()), count=2
    ),
    "data.group_by_window": applied(
        lambda: data.group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2)
    ),
    "data.ignore_errors": applied(
        lambda: data.ignore_errors(),
        lambda: rows().map(lambda x: tf.debugging.check_numerics(1.0 / x, "infinite")),
        2,
    ),
    "data.make_batched_features_dataset": of(
        lambda: data.make_batched_features_dataset(
            examples(), 2, FEATURES, shuffle=False, num_epochs=1
        ),
        2,
    ),
    "data.make_csv_dataset": of(csv, 1),
    "data.make_saveable_from_iterator": Case(saveable, has_gradients=False),
    "data.map_and_batch": applied(lambda: data.map_and_batch(lambda x: x * 2, 3)),
    "data.padded_batch_and_drop_remainder": applied(
        lambda: data.padded_batch_and_drop_remainder(2, [4], np.int64(9)), ragged, 2
    ),
    "data.parallel_interleave": applied(interleaved(data.parallel_interleave), count=5),
    "data.parse_example_dataset": applied(
        lambda: data.parse_example_dataset(FEATURES),
        lambda: tf.data.TFRecordDataset(examples()).batch(2),
        2,
    ),
    "data.prefetch_to_device": Case(
        lambda: initialized(counted(3).apply(data.prefetch_to_device("/cpu:0")), 2),
        has_gradients=False,
    ),
    "data.read_batch_features": Case(
        lambda: Steps(
            [data.read_batch_features(examples(), 2, FEATURES, randomize_input=False, num_epochs=1)]
            * 2
        ),
        has_gradients=False,
    ),
    "data.reduce_dataset": Case(
        lambda: data.reduce_dataset(counted(5), sums()), has_gradients=False
    ),
    "data.rejection_resample": Case(lambda: initialized(rejected(), 4), has_gradients=False),
    "data.sample_from_datasets": of(
        lambda: data.sample_from_datasets([counted(3), counted(9).skip(5)], [0.0, 1.0], seed=2)
    ),
    "data.scan": applied(lambda: data.scan(np.int64(1), lambda state, x: (state + x, state * x))),
    "data.shuffle_and_repeat": applied(lambda: data.shuffle_and_repeat(1, 2), count=9),
    "data.sliding_window_batch": applied(
        lambda: data.sliding_window_batch(3, window_shift=2, window_stride=1), count=2
    ),
    "data.sloppy_interleave": applied(
        interleaved(data.sloppy_interleave), lambda: counted(1), count=2
    ),
    "data.unbatch": applied(lambda: data.unbatch(), rows),
    "data.unique": applied(
        lambda: data.unique(),
        lambda: tf.data.Dataset.from_tensor_slices([3, 1, 3, 2, 1]),
    ),
}
