"""Tools of the cases: TensorFlow as programs import it, and ways to look at results."""

from __future__ import annotations

import collections
import contextlib
import glob
import logging
import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from parity.differential.outcome import error_of, plain
from parity.differential.world import CORES, IS_ORIGINAL, V2_OFF, case

__all__ = [
    "CORES",
    "IS_ORIGINAL",
    "V2_OFF",
    "captured_log",
    "case",
    "config",
    "error_of",
    "est",
    "event_kinds",
    "events",
    "files",
    "np",
    "outside_placeholder",
    "plain",
    "repeat",
    "tf",
    "tf2",
    "variables",
]

# TF 1.15 has TF 2's names under compat.v2.
tf2 = tensorflow if tensorflow.__version__ >= "2" else tensorflow.compat.v2
est = tf.estimator

_RATES = ("global_step/sec", "examples/sec")


def config(folder=None, **settings):
    """Returns a RunConfig with a seed."""
    settings.setdefault("tf_random_seed", 7)
    return est.RunConfig(model_dir=folder, **settings)


def repeat(*arrays, n=None):
    """Returns an input function of one element, or a tuple, repeated n times or without end."""
    element = arrays if len(arrays) > 1 else arrays[0]
    return lambda: tf.data.Dataset.from_tensors(element).repeat(n)


def outside_placeholder(shape, dtype=None):
    """Returns a placeholder of a graph of its own, as receivers are described with."""
    with tf.Graph().as_default():
        return tf.placeholder(dtype or tf.float32, shape)


def variables(folder, skip=()):
    """Returns a checkpoint's variables: of a path, or of a folder's latest; None if it has none."""
    path = tf.train.latest_checkpoint(folder) if os.path.isdir(folder) else folder
    if path is None:
        return None
    reader = tf.train.load_checkpoint(path)
    names = sorted(reader.get_variable_to_shape_map())
    return {name: reader.get_tensor(name) for name in names if name not in skip}


def _events(folder):
    for path in sorted(glob.glob(os.path.join(folder, "events.*"))):
        yield from tf.train.summary_iterator(path)


def events(folder, values=True, skip=_RATES):
    """Returns the summaries of a folder's event files: tag, step, kind and value, sorted."""
    rows = []
    for event in _events(folder):
        for value in event.summary.value:
            if value.tag not in skip:
                kind = value.WhichOneof("value")
                content = _summary(value, kind) if values else None
                rows.append([value.tag, int(event.step), kind, content])
    return sorted(rows, key=lambda row: (row[1], row[0]))


def _summary(value, kind):
    if kind == "simple_value":
        return float(value.simple_value)
    if kind == "histo":
        return [value.histo.min, value.histo.max, value.histo.num, value.histo.sum]
    if kind == "image":
        return [value.image.height, value.image.width, value.image.colorspace]
    if kind == "audio":
        return [value.audio.sample_rate, value.audio.length_frames]
    if kind == "tensor":
        array = tf.make_ndarray(value.tensor)
        return plain(array) if array.size < 20 else list(array.shape)
    return None


def event_kinds(folder):
    """Returns how many events of each kind a folder's event files hold."""
    count: collections.Counter = collections.Counter()
    for event in _events(folder):
        kind = event.WhichOneof("what")
        if kind == "session_log":
            kind = f"session_log:{event.session_log.status}@{event.step}"
        count[kind] += 1
    return dict(count)


def files(folder):
    """Returns the paths of all files in a folder; event files without time and host."""
    paths = set()
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(root, name), folder)
            if "events.out" in name:
                path = os.path.join(os.path.dirname(path), "events.out")
            paths.add(path)
    return sorted(paths)


@contextlib.contextmanager
def captured_log(level=logging.INFO):
    """Yields a list that gets the log's messages while the block runs."""
    messages = []

    class Keep(logging.Handler):
        def emit(self, record):
            messages.append(record.getMessage())

    handler = Keep()
    loggers = [logging.getLogger(name) for name in ("tensorflow", "estimator_bridge", "absl")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(level)
        logger.addHandler(handler)
    try:
        yield messages
    finally:
        for logger, old in zip(loggers, levels):
            logger.setLevel(old)
            logger.removeHandler(handler)
