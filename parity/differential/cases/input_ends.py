"""Inputs that end or fail, and steps that are counted."""

from __future__ import annotations

import tempfile

from parity.differential.cases.inputs import train
from parity.differential.tools import case, error_of, files, tf, variables


@case
def input_ends(folder):
    out = []
    for n, steps, maxs in (
        (3, 10, None),
        (3, None, 2),
        (3, None, None),
        (0, None, None),
        (0, 5, None),
        (3, 3, None),
    ):
        m = tempfile.mkdtemp()
        r = error_of(train, m, lambda: tf.data.Dataset.range(n), None, steps, maxs)
        out.append([r, files(m)])
    return out


@case
def max_steps_reached(folder):
    calls = []

    def data():
        calls.append(1)
        return tf.data.Dataset.range(100)

    a = train(folder, data, steps=None, max_steps=3)
    b = train(folder, data, steps=None, max_steps=3)
    c = train(folder, data, steps=None, max_steps=2)
    r = [
        error_of(train, folder, data, None, s, m)
        for s, m in ((0, None), (-1, None), (None, 0), (None, -2), (2, 3))
    ]
    return [a, b, c, r, len(calls)]


@case
def input_error(folder):
    out = []

    def bad(x):
        raise RuntimeError("in generator")

    for data in (
        lambda: (
            tf.data.Dataset.range(5)
            .map(lambda x: tf.py_func(bad, [x], tf.float32))
            .map(lambda x: tf.reshape(x, []))
        ),
        lambda: tf.data.Dataset.range(5).map(lambda x: 10 // (2 - x)),
        lambda: tf.data.TFRecordDataset("/nowhere").map(tf.strings.length),
        lambda: tf.data.Dataset.range(5).map(lambda x: tf.gather([1, 2], x)),
        lambda: tf.train.batch(
            [tf.read_file(tf.train.string_input_producer(["/nowhere"]).dequeue())], 1
        ),
    ):
        m = tempfile.mkdtemp()
        r = error_of(
            train,
            m,
            data,
            lambda f, l: tf.cast(
                tf.reduce_sum(tf.strings.length(f)) if f.dtype == tf.string else f, tf.float32
            ),
            10,
        )
        v = variables(m)
        out.append([r, v and v["global_step"]])
    return out
