"""Statistics of a series, which are updated with each batch of training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures

__all__ = ["InputStatistics", "InputStatisticsFromMiniBatch", "Moments"]

_v1 = tf.compat.v1


class Moments(NamedTuple):
    """A mean and a variance, each [features]."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """The statistics of a series so far.

    Attributes:
      series_start_moments: the moments of the first values.
      overall_feature_moments: the moments of all values.
      start_time: the lowest time.
      total_observation_count: an estimate of the series's length.
    """

    series_start_moments: Any
    overall_feature_moments: Any
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """Variables from which the statistics are computed."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


class InputStatisticsFromMiniBatch:
    """Computes statistics of a series from the batches that a model is trained on.

    Args:
      num_features: the number of features.
      dtype: the type of the statistics.
      starting_variance_window_size: how many values count as the series's first.
    """

    def __init__(self, num_features: int, dtype: Any, starting_variance_window_size: int = 16):
        self._num_features = num_features
        self._dtype = dtype
        self._start_size = starting_variance_window_size

    def initialize_graph(
        self, features: Mapping[str, Any], update_statistics: bool = True
    ) -> InputStatistics:
        """Makes the variables, and updates them with a batch.

        Args:
          features: tensors by name; without times and values, nothing is updated.
          update_statistics: whether to update.

        Returns:
          The statistics: after the update if there is one.
        """
        times = values = None
        if {TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES} <= set(features):
            times = features[TrainEvalFeatures.TIMES]
            values = features[TrainEvalFeatures.VALUES]
        with _v1.variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with _v1.variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        update = self._update(statistics, sums, times, tf.cast(values, self._dtype))
        with tf.control_dependencies([update]):
            updated: Any = tf.nest.map_structure(tf.identity, statistics)
        # A model may fail on a time before the start, which another worker may have moved.
        start = tf.minimum(updated.start_time, tf.reduce_min(times))
        return updated._replace(start_time=start)

    def _variable(self, name: str, initializer: Any, dtype: Any, shape: Any = ()) -> Any:
        return _v1.get_variable(
            name, shape=shape, dtype=dtype, initializer=initializer, trainable=False
        )

    def _statistics(self) -> InputStatistics:
        zeros, ones, size = _v1.zeros_initializer(), _v1.ones_initializer(), [self._num_features]

        def moments(prefix: str, variance: str) -> Moments:
            return Moments(
                self._variable(f"{prefix}_mean", zeros, self._dtype, size),
                self._variable(f"{prefix}_{variance}", ones, self._dtype, size),
            )

        return InputStatistics(
            moments("series_start", "variance"),
            moments("overall_feature", "var"),
            self._variable("start_time", tf.int64.max, tf.int64, None),
            self._variable("total_observation_count", ones, tf.int64),
        )

    def _sums(self) -> _Sums:
        zeros, size = _v1.zeros_initializer(), [self._num_features]
        return _Sums(
            self._variable("max_time_seen", tf.int64.min, tf.int64, None),
            self._variable("chunk_count", zeros, tf.int64),
            self._variable("inter_observation_duration_sum", zeros, self._dtype),
            self._variable("example_count", None, tf.int64),
            self._variable("overall_feature_sum", zeros, self._dtype, size),
            self._variable("overall_feature_sum_of_squares", zeros, self._dtype, size),
        )

    def _update(
        self, statistics: InputStatistics, sums: _Sums, times: Any, values: Any
    ) -> tf.Operation:
        """Updates all variables; returns the operation."""
        spans = tf.cast(tf.reduce_max(times, axis=1) - tf.reduce_min(times, axis=1), self._dtype)
        gaps = spans / tf.cast(tf.shape(times)[1] - 1, self._dtype)
        latest = _assigned(sums.max_time_seen, tf.maximum(sums.max_time_seen, tf.reduce_max(times)))
        added = [
            _v1.assign_add(sums.chunk_count, tf.shape(times, out_type=tf.int64)[0]),
            _v1.assign_add(sums.inter_observation_duration_sum, tf.reduce_sum(gaps)),
            _v1.assign_add(sums.example_count, tf.size(times, out_type=tf.int64)),
            _v1.assign_add(sums.overall_feature_sum, tf.reduce_sum(values, axis=[0, 1])),
            _v1.assign_add(
                sums.overall_feature_sum_of_squares, tf.reduce_sum(values**2, axis=[0, 1])
            ),
        ]
        with tf.control_dependencies([tf.group(latest, *added)]):
            moments = self._update_moments(statistics.overall_feature_moments, sums)
            begun, earliest = self._update_start(statistics, times, values)
            gap = sums.inter_observation_duration_sum / tf.cast(sums.chunk_count, self._dtype)
            count = tf.round(tf.cast(latest - earliest + 1, self._dtype) / gap)
            counted = _v1.assign(statistics.total_observation_count, tf.cast(count, tf.int64))
            return tf.group(*moments, begun, earliest, counted)

    def _update_moments(self, moments: Moments, sums: _Sums) -> list[Any]:
        count = tf.cast(sums.example_count, self._dtype)
        mean = sums.overall_feature_sum / count
        spread = sums.overall_feature_sum_of_squares / count - mean**2
        return [
            _v1.assign(moments.mean, mean),
            _v1.assign(moments.variance, count / (count - 1.0) * spread),
        ]

    def _update_start(
        self, statistics: InputStatistics, times: Any, values: Any
    ) -> tuple[tf.Operation, tf.Tensor]:
        """Updates the first values' moments and the lowest time."""
        first = tf.cast(tf.argmin(times[:, 0]), tf.int32)
        start = statistics.series_start_moments

        def write() -> tf.Operation:
            mean, variance = tf.nn.moments(values[first, : self._start_size], axes=[0])
            return tf.group(_v1.assign(start.mean, mean), _v1.assign(start.variance, variance))

        # Also when the time is the lowest one already: another worker may have written between.
        is_first = tf.less_equal(times[first, 0], statistics.start_time)
        begun = _v1.cond(is_first, write, tf.no_op)
        with tf.control_dependencies([begun]):
            lowest = tf.minimum(statistics.start_time, tf.reduce_min(times))
            return begun, _assigned(statistics.start_time, lowest)


def _assigned(variable: Any, value: Any) -> tf.Tensor:
    """Assigns a value, and returns it as a tensor that is read afterwards."""
    return tf.convert_to_tensor(_v1.assign(variable, value))
