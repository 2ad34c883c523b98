"""Readers of series in files, one record for each time, by TensorFlow 1's queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures
from estimator_bridge_contrib.timeseries.readers import TimeSeriesReader

__all__ = ["CSVReader", "ReaderBaseTimeSeriesParser", "TFExampleReader"]

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """Reads files with one of TensorFlow 1's readers.

    A subclass defines `_get_reader` and `_process_records`.

    Args:
      filenames: a file's name, or a list of names; the series continues from file to file.
      read_num_records_hint: how many records `read` returns; where a file ends, they may be fewer.
    """

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096):
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    def _get_reader(self) -> Any:
        """Makes the reader, such as a tf.compat.v1.TextLineReader."""
        raise NotImplementedError(f"{type(self).__name__} has no method _get_reader.")

    def _process_records(self, lines: tf.Tensor) -> dict[str, tf.Tensor]:
        """Parses records, strings [records]; returns tensors by name, [records, ...]."""
        raise NotImplementedError(f"{type(self).__name__} has no method _process_records.")

    def _get_filename_queue(self, epoch_limit: int) -> tuple[Any, Any]:
        """Makes the queue of the files' names, with a limit that ends a search for records.

        Args:
          epoch_limit: how often all files may be opened until the counter is set back to 0. Files
            without a record would be opened without end.

        Returns:
          The queue and the counter.
        """
        opened = _v1.Variable(
            tf.constant(0, tf.int64),
            name="epoch_limiter",
            trainable=False,
            collections=[_v1.GraphKeys.LOCAL_VARIABLES],
        )
        names = tf.reshape(tf.convert_to_tensor(self._filenames), [-1])
        # Queue runners start before local variables are initialized, so nothing is counted then.
        counted = _v1.cond(
            _v1.is_variable_initialized(opened),
            lambda: _v1.count_up_to(opened, epoch_limit),
            lambda: tf.constant(0, tf.int64),
        )
        with tf.control_dependencies([counted]):
            names = tf.identity(names)
        return _v1.train.string_input_producer(names, shuffle=False, capacity=1), opened

    def read(self) -> dict[str, tf.Tensor]:
        """Reads the next records; see the base class.

        If no file has a record, running it raises tf.errors.OutOfRangeError.
        """
        queue, opened = self._get_filename_queue(self._read_num_records_hint)
        reader = self._get_reader()
        with tf.control_dependencies([_v1.assign(opened, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> dict[str, tf.Tensor]:
        """Reads all records of all files; see the base class.

        Records are read one by one until the first one's key comes again.
        """
        reader = self._get_reader()
        queue, opened = self._get_filename_queue(2)
        with tf.control_dependencies([_v1.assign(opened, 0)]):
            first_key, first = reader.read_up_to(queue, 1)

        def is_new(key: tf.Tensor, *_: Any) -> tf.Tensor:
            return tf.not_equal(tf.squeeze(key, axis=[0]), tf.squeeze(first_key, axis=[0]))

        def read_one(_: Any, record: tf.Tensor, count: tf.Tensor, buffer: Any) -> tuple[Any, ...]:
            key, following = reader.read_up_to(queue, 1)
            key.set_shape([1])
            following.set_shape([1])
            return key, following, count + 1, buffer.write(count, record)

        buffer = tf.TensorArray(tf.string, size=0, dynamic_size=True)
        start = [tf.constant([""]), first, 0, buffer]
        records = _v1.while_loop(is_new, read_one, start)[3].concat()
        with tf.control_dependencies([records]):  # a later run begins with the first file again
            reset = reader.reset()
        with tf.control_dependencies([reset]):
            records = tf.identity(records)
        return self._process_records(records)


class CSVReader(ReaderBaseTimeSeriesParser):
    """Reads a series from CSV files.

    Args:
      filenames: see the base class.
      column_names: the columns' names in their order, with times once and values as often as the
        series has features.
      column_dtypes: the columns' types; by default int64 for times and float32 for others.
      skip_header_lines: how many lines to skip at the beginning of each file.
      read_num_records_hint: see the base class.

    Raises:
      ValueError: times or values is missing, times is there twice, or the number of types is not
        that of the columns.
    """

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ):
        _check_required(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names "
                f"(got column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(
                f"Got more than one times column ('{_TIMES}'), but exactly one is required."
            )
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames, read_num_records_hint)

    def _get_reader(self) -> Any:
        return _v1.TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: tf.Tensor) -> dict[str, tf.Tensor]:
        if self._column_dtypes is None:
            # A record default without a value says that a column is required.
            defaults = [
                (tf.zeros([], tf.int64),) if name == _TIMES else () for name in self._column_names
            ]
        else:
            defaults = [(tf.zeros([], dtype),) for dtype in self._column_dtypes]
        columns: dict[str, list[tf.Tensor]] = {}
        for name, column in zip(self._column_names, _v1.decode_csv(lines, defaults)):
            columns.setdefault(name, []).append(column)
        return {
            name: each[0] if name == _TIMES else tf.stack(each, axis=1)
            for name, each in columns.items()
        }


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """Reads a series from TFRecord files of tf.train.Example, one for each time.

    Args:
      filenames: see the base class.
      features: a tf.io.FixedLenFeature by name, with times (a number) and values (a vector).

    Raises:
      ValueError: times or values is missing.
    """

    def __init__(self, filenames: Any, features: Mapping[str, Any]):
        _check_required(features)
        self._features = features
        super().__init__(filenames)

    def _get_reader(self) -> Any:
        return _v1.TFRecordReader()

    def _process_records(self, examples: tf.Tensor) -> dict[str, tf.Tensor]:
        return _v1.parse_example(examples, self._features)


def _check_required(names: Any) -> None:
    for name in (_TIMES, _VALUES):
        if name not in names:
            raise ValueError(f"'{name}' is a required column. Got {list(names)}.")
