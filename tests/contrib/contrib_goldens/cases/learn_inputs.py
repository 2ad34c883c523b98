"""tf.contrib.learn: data frames, input functions, and queues of records."""

import os
import tempfile

import numpy as np
import pandas as pd
import tensorflow as tf
from contrib_goldens.observe import Case

__all__ = ["CASES"]

learn = tf.contrib.learn
_NUMBERS = np.arange(10.0, dtype=np.float32).reshape(5, 2)


def _frame(**more):
    return pd.DataFrame(
        dict({"a": [1, 2, 3], "b": [0.5, 1.5, -1.0], "c": [True, False, True]}, **more)
    )


def _numpy_input(**options):
    def build():
        options.setdefault("x", {"a": _NUMBERS, "b": np.arange(5)})
        input_fn = learn.io.numpy_input_fn(batch_size=2, num_epochs=1, **options)
        return _without_summaries(input_fn())

    return Case(build, has_gradients=False, queues=True)


def _pandas_input(**options):
    def build():
        input_fn = learn.io.pandas_input_fn(_frame(), batch_size=2, num_epochs=1, **options)
        return _without_summaries(input_fn())

    return Case(build, has_gradients=False, queues=True)


def _generator_input(**options):
    def rows():
        for number in range(5):
            yield {"a": _NUMBERS[number], "y": np.array(number)}

    def build():
        options.setdefault("x", rows)
        input_fn = learn.io.generator_input_fn(batch_size=2, num_epochs=1, shuffle=False, **options)
        return _without_summaries(input_fn())

    return Case(build, has_gradients=False, queues=True)


def _without_summaries(tensors):
    """How full a queue is depends on its threads."""
    tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
    return tensors


def _records(as_text=False):
    path = os.path.join(tempfile.mkdtemp(), "records")
    if as_text:
        with open(path, "w") as file:
            file.write("one\ntwo\nthree\nfour\n")
        return path
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(5):
            value = tf.train.Feature(float_list=tf.train.FloatList(value=[number]))
            example = tf.train.Example(features=tf.train.Features(feature={"x": value}))
            writer.write(example.SerializeToString())
    return path


_ONCE = {"randomize_input": False, "num_epochs": 1}
_SPEC = {"x": tf.FixedLenFeature([1], tf.float32)}


def _read(name, *args, **options):
    """A batch of a reading function; keys name the file, so only their ends are kept."""
    as_text = options.pop("as_text", False)

    def build():
        tensors = getattr(learn.io, name)(_records(as_text), 3, *args, **dict(_ONCE, **options))
        if "keyed" in name:
            keys, batch = tensors
            keys = tf.strings.regex_replace(keys, ".*records", "records")
            tensors = [tf.identity(keys, "keys"), batch]
        return _without_summaries(tensors)

    return Case(build, has_gradients=False, queues=True)


def _parsed_queue():
    features = {"x": tf.constant(_NUMBERS)}
    tensors = learn.io.queue_parsed_features(
        features, feature_queue_capacity=2, num_enqueue_threads=1
    )
    return _without_summaries(tensors)


def _csv(load):
    path = os.path.join(tempfile.mkdtemp(), "rows.csv")
    with open(path, "w") as file:
        file.write("2,3,a,b,c\n1,2,3,24.0\n4.5,5,6,21.6\n")
    dataset = load(path)
    return {"data": dataset.data, "target": dataset.target}


CASES = {
    "learn.extract_pandas_data": lambda: learn.extract_pandas_data(_frame()),
    "learn.extract_pandas_data: array": lambda: learn.extract_pandas_data(_NUMBERS),
    "learn.extract_pandas_data: texts": lambda: learn.extract_pandas_data(
        _frame(d=["x", "y", "z"])
    ),
    "learn.extract_pandas_matrix": lambda: learn.extract_pandas_matrix(_frame()[["a", "b"]]),
    "learn.extract_pandas_matrix: array": lambda: learn.extract_pandas_matrix(_NUMBERS),
    "learn.extract_pandas_labels": lambda: np.asarray(learn.extract_pandas_labels(_frame()["b"])),
    "learn.extract_pandas_labels: frame": lambda: np.asarray(
        learn.extract_pandas_labels(_frame()[["a"]])
    ),
    "learn.extract_pandas_labels: two": lambda: learn.extract_pandas_labels(_frame()[["a", "b"]]),
    "learn.extract_pandas_labels: texts": lambda: learn.extract_pandas_labels(
        pd.DataFrame({"d": ["x", "y"]})
    ),
    "learn.extract_pandas_labels: array": lambda: learn.extract_pandas_labels(_NUMBERS),
    "learn.numpy_input_fn": _numpy_input(y=np.arange(5.0), shuffle=False),
    "learn.numpy_input_fn: no labels": _numpy_input(shuffle=False),
    "learn.numpy_input_fn: sizes": _numpy_input(y=np.arange(4.0), shuffle=False),
    "learn.numpy_input_fn: no dict": _numpy_input(x=[1, 2], shuffle=False),
    "learn.pandas_input_fn": _pandas_input(y=pd.Series([1.0, 0.0, 2.0]), shuffle=False),
    "learn.pandas_input_fn: target": _pandas_input(
        y=pd.Series([1.0, 0.0, 2.0]), shuffle=False, target_column="t"
    ),
    "learn.pandas_input_fn: no labels": _pandas_input(shuffle=False),
    "learn.pandas_input_fn: index": _pandas_input(
        y=pd.Series([1.0, 0.0, 2.0], index=[4, 5, 6]), shuffle=False
    ),
    "learn.generator_input_fn": _generator_input(),
    "learn.generator_input_fn: target": _generator_input(target_key="y"),
    "learn.generator_input_fn: no key": _generator_input(target_key="z"),
    "learn.generator_input_fn: no function": _generator_input(x=[1]),
    "learn.read_batch_examples": _read("read_batch_examples", tf.TFRecordReader),
    "learn.read_batch_examples: text": _read(
        "read_batch_examples", tf.TextLineReader, as_text=True
    ),
    "learn.read_batch_examples: parsed": _read(
        "read_batch_examples",
        tf.TextLineReader,
        as_text=True,
        read_batch_size=2,
        parse_fn=lambda line: {"size": tf.strings.length(line), "line": line},
    ),
    "learn.read_batch_examples: no reader": _read("read_batch_examples", None),
    "learn.read_batch_examples: capacity": _read(
        "read_batch_examples", tf.TFRecordReader, queue_capacity=2
    ),
    "learn.read_keyed_batch_examples": _read(
        "read_keyed_batch_examples", tf.TextLineReader, as_text=True
    ),
    "learn.read_batch_record_features": _read("read_batch_record_features", _SPEC),
    "learn.read_keyed_batch_features": _read(
        "read_keyed_batch_features", _SPEC, tf.TFRecordReader, num_enqueue_threads=1
    ),
    "learn.queue_parsed_features": Case(_parsed_queue, has_gradients=False, queues=True),
    "learn.load_boston": lambda: _csv(learn.datasets.load_boston),
    "learn.load_dataset: unknown": lambda: learn.datasets.load_dataset("nothing"),
}
