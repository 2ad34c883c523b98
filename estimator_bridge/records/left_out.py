"""Reads the records of files, but for some that are left out, or that others read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from estimator_bridge.errors import DataError

__all__ = ["Part", "check_left_out", "file_reader"]

# The number of bytes per read: TensorFlow's default, set because TensorFlow logs a line otherwise.
# Each open file has such a buffer, and files are opened ahead: 1 MiB made 64 files take 85 MB more.
_BUFFER = 1 << 18


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of each file's records that a reader takes: by default all.

    Attributes:
      index: the reader's number.
      count: the number of readers that share the files.
    """

    index: int = 0
    count: int = 1

    def of(self, records: tf.data.Dataset) -> tf.data.Dataset:
        """Returns the reader's records of one file."""
        return records if self.count == 1 else records.shard(self.count, self.index)


def check_left_out(leave_out: Mapping[str, Sequence[int]], paths: Sequence[str]) -> None:
    """Checks that all files with records to leave out are read.

    Args:
      leave_out: the numbers of the records, by file.
      paths: the files that are read.

    Raises:
      DataError: a file is not among them.
    """
    others = [path for path in leave_out if path not in paths]
    if others:
        raise DataError(
            f"{others[0]}: leave_out names a record of this file, which is not read: the input "
            f"reads {paths[0]}{' and others' if len(paths) > 1 else ''}. Pass the damaged_images "
            "of a check of the same paths."
        )


def file_reader(
    paths: Sequence[str], leave_out: Mapping[str, Sequence[int]], part: Part = Part()
) -> Callable[[tf.Tensor], tf.data.Dataset]:
    """Returns a function that reads the serialized records of a file, for ``interleave``.

    Args:
      paths: the files that it will read.
      leave_out: the numbers of the records to leave out, by file; records are numbered only if
        there are some in these files.
      part: the reader's part of each file's other records.
    """
    bad = [(path, number) for path in paths for number in leave_out.get(path, ())]
    if not bad:
        return lambda path: part.of(_records(path))
    files, numbers = (list(column) for column in zip(*bad))

    def read_rest(path: tf.Tensor) -> tf.data.Dataset:
        bad = tf.boolean_mask(tf.constant(numbers, tf.int64), tf.equal(files, path))
        records = _records(path).enumerate()
        remaining = records.filter(lambda number, _: tf.reduce_all(tf.not_equal(bad, number)))
        return part.of(remaining.map(lambda _, record: record))

    return read_rest


def _records(path: tf.Tensor) -> tf.data.Dataset:
    return tf.data.TFRecordDataset(path, buffer_size=_BUFFER)
