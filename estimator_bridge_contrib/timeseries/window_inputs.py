"""Input functions that cut a series into windows."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures
from estimator_bridge_contrib.timeseries.readers import TimeSeriesReader

__all__ = ["RandomWindowInputFn", "TimeSeriesInputFn", "WholeDatasetInputFn"]

_v1 = tf.compat.v1
_Batch = tuple[dict[str, tf.Tensor], None]


class TimeSeriesInputFn:
    """An input function that is an object; a subclass defines `create_batch`."""

    def create_batch(self) -> _Batch:
        """Makes a batch.

        Returns:
          Tensors by name, [batch, window, ...], and None in place of labels.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method create_batch.")

    def __call__(self) -> _Batch:
        """Makes a batch; see `create_batch`."""
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """One window with the whole series, to evaluate it before predictions.

    Args:
      time_series_reader: reads the series.
    """

    def __init__(self, time_series_reader: TimeSeriesReader):
        self._reader = time_series_reader

    def create_batch(self) -> _Batch:
        """Makes a batch of one window; see the base class."""
        features = self._reader.read_full()
        return {name: value[None, ...] for name, value in features.items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows of consecutive records, in a random order.

    Records are cut into windows, and a queue shuffles these. With ``num_threads=1`` and a
    ``shuffle_seed``, the windows are the same in each run.

    Args:
      time_series_reader: reads the series.
      window_size: the number of records of a window.
      batch_size: the number of windows of a batch.
      queue_capacity_multiplier: how many batches each queue may hold.
      shuffle_min_after_dequeue_multiplier: how many batches stay in the queue that shuffles.
      discard_out_of_order: whether to drop windows whose times decrease, as where a file ends.
        False gives what it gave in TensorFlow 1: windows with a dimension more, of no use.
      discard_consecutive_batches_limit: how many batches without a usable window may follow one
        another before the input ends with an OutOfRangeError.
      jitter: whether to skip a record between windows now and then, so that the windows' borders
        move.
      num_threads: the number of threads of each queue; None for batch_size.
      shuffle_seed: the seed of the shuffling.

    Raises:
      ValueError: the series is known to be shorter than a window.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ):
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader = time_series_reader
        self._window_size = window_size
        self._batch_size = batch_size
        self._capacity = queue_capacity_multiplier
        self._min_after_dequeue = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> _Batch:
        """Makes a batch of windows; see the base class."""
        windows = self._windows()
        if self._discard_out_of_order:
            keep = self._limited(_increasing(windows[TrainEvalFeatures.TIMES]))
        else:
            windows, keep = _by_rank_of_times(windows), True
        shuffled = _v1.train.maybe_shuffle_batch(
            windows,
            batch_size=self._batch_size,
            capacity=self._capacity * self._batch_size,
            min_after_dequeue=self._min_after_dequeue * self._batch_size,
            keep_input=keep,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            enqueue_many=True,
        )
        return shuffled, None

    def _windows(self) -> dict[str, tf.Tensor]:
        """Cuts the next records into as many windows as a batch has."""
        records = self._reader.read()
        skipped: Any = 0
        if self._jitter:
            skipped = _v1.random_uniform(shape=[], maxval=2, dtype=tf.int32)
        sizes = [self._batch_size, self._window_size]
        rows = _v1.train.batch(
            records,
            batch_size=self._window_size * self._batch_size + skipped,
            enqueue_many=True,
            capacity=self._capacity * self._batch_size * self._window_size,
            num_threads=self._num_threads,
        )
        windows = {}
        for name, value in rows.items():
            steps = value[skipped:] if self._jitter else value
            windows[name] = tf.reshape(steps, tf.concat([sizes, tf.shape(steps)[1:]], axis=0))
            windows[name].set_shape(tf.TensorShape(sizes).concatenate(value.shape[1:]))
        return windows

    def _limited(self, keep: tf.Tensor) -> tf.Tensor:
        """Counts consecutive batches without a window to keep, and ends the input at the limit."""
        discarded = _v1.Variable(
            tf.constant(0, tf.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[_v1.GraphKeys.LOCAL_VARIABLES],
        )

        def count() -> tf.Tensor:
            return _v1.cond(
                tf.reduce_any(keep),
                lambda: tf.identity(_v1.assign(discarded, 0)),
                lambda: _v1.count_up_to(discarded, self._discard_limit),
            )

        # Queue runners start before local variables are initialized.
        counted = _v1.cond(
            _v1.is_variable_initialized(discarded), count, lambda: tf.constant(0, tf.int64)
        )
        with tf.control_dependencies([counted]):
            return tf.identity(keep)


def _increasing(times: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)


def _by_rank_of_times(windows: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    times = windows[TrainEvalFeatures.TIMES]
    _, falling = tf.nn.top_k(times, k=tf.shape(times)[-1], sorted=True)
    indices = tf.reverse(falling, axis=[0])
    return {name: tf.gather(value, indices) for name, value in windows.items()}
