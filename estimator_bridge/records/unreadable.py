"""Finds the records of a file that cannot be read, although the file itself is whole."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.records.framing import offset_of

__all__ = ["Unreadable", "reason_of", "unreadable_in"]

_CORES = os.cpu_count() or 1
_BATCH = 1024


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A record that cannot be read.

    Attributes:
      path: its file.
      record: its number in the file, from 0.
      offset: the byte at which it begins.
      reason: why.
    """

    path: str
    record: int
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, byte {self.offset}: record {self.record}: {self.reason}"


def unreadable_in(
    path: str, records: int, read: Callable[[tf.Tensor], Any]
) -> Iterator[Unreadable]:
    """Yields the records that a function cannot read, in order.

    Args:
      path: the file.
      records: the number of records at its start to read, all of them whole.
      read: reads one serialized record, in TensorFlow: parses it and decodes its images. It is
        called in a graph, on all cores at once.
    """

    def pack(number: tf.Tensor, record: tf.Tensor) -> tf.Tensor:
        values = tf.nest.flatten(read(record), expand_composites=True)
        # TensorFlow drops stateless operations whose results nobody uses; this one uses them.
        assertion = tf.raw_ops.Assert(condition=number >= 0, data=values)
        with tf.control_dependencies([assertion]):
            return tf.identity(number)

    serialized = tf.data.TFRecordDataset(path).take(records)
    dataset = tf.data.Dataset.zip((tf.data.Dataset.range(records), serialized))
    dataset = dataset.map(pack, num_parallel_calls=_CORES, deterministic=True).ignore_errors()
    good = [batch.numpy() for batch in dataset.batch(_BATCH)]
    bad = np.setdiff1d(np.arange(records), np.concatenate(good) if good else [])
    for number in bad.tolist():
        (record,) = tf.data.TFRecordDataset(path).skip(number).take(1)
        yield Unreadable(path, number, offset_of(path, number), _reason(record, read))


def _reason(record: tf.Tensor, read: Callable[[tf.Tensor], Any]) -> str:
    try:
        read(record)
    except (tf.errors.OpError, ValueError) as error:
        return reason_of(error)
    return "it was read now, and not a moment ago"  # by a function that draws at random


def reason_of(error: Exception) -> str:
    """Returns the first line of a TensorFlow error, without the names of its operation."""
    text = str(getattr(error, "message", None) or error).splitlines()[0]
    reason = (text.rpartition("}} ")[2] or text).partition(" [Op:")[0]
    return reason.rstrip(". ")
