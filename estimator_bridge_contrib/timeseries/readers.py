"""Readers of series: the base class, and the reader of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.inputs import numpy_input_fn
from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures
from estimator_bridge_contrib.timeseries.series_arrays import with_all_dimensions

__all__ = ["NumpyReader", "TimeSeriesReader"]


class TimeSeriesReader:
    """Reads a series for an input function; a subclass defines `read` and `read_full`."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises an error if the series is known to be too short; here nothing is known.

        Args:
          minimum_dataset_size: the number of records that an input function needs.
        """

    def read(self) -> dict[str, tf.Tensor]:
        """Reads some of the next records, and begins anew at the end.

        Returns:
          Tensors by name, [records, ...].
        """
        raise NotImplementedError(f"{type(self).__name__} has no method read.")

    def read_full(self) -> dict[str, tf.Tensor]:
        """Reads the whole series.

        Returns:
          Tensors by name, [series length, ...].
        """
        raise NotImplementedError(f"{type(self).__name__} has no method read_full.")


class NumpyReader(TimeSeriesReader):
    """Reads a series from arrays.

    Args:
      data: arrays by name: times [length], values [length] or [length, features], and any others
        [length, ...].
      read_num_records_hint: how many records `read` returns.

    Raises:
      ValueError: times or values is missing, or a shape does not fit.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096):
        self._features = with_all_dimensions(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Checks that the series is long enough.

        Raises:
          ValueError: it has fewer records.
        """
        length = self._features[TrainEvalFeatures.TIMES].shape[1]
        if length < minimum_dataset_size:
            raise ValueError(
                "A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {length} records were available in the dataset. "
                "Either decrease the window size or provide more records."
            )

    def read(self) -> dict[str, tf.Tensor]:
        """Reads read_num_records_hint records, around the end; see the base class."""
        rows = {name: np.squeeze(value, axis=0) for name, value in self._features.items()}
        return self._batches(rows, self._read_num_records_hint, 1000)

    def read_full(self) -> dict[str, tf.Tensor]:
        """Reads the whole series; see the base class."""
        # Each element of the queue is a copy of the series.
        series = self._batches(self._features, 1, 2)
        return {name: tf.squeeze(value, axis=[0]) for name, value in series.items()}

    def _batches(self, rows: dict[str, Any], size: int, capacity: int) -> dict[str, tf.Tensor]:
        return numpy_input_fn(
            rows, batch_size=size, num_epochs=None, shuffle=False, queue_capacity=capacity
        )()
