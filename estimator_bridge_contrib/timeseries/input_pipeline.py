"""Readers and input functions of series, under the name of their file in TensorFlow 1."""

from estimator_bridge_contrib.timeseries.continuation import predict_continuation_input_fn
from estimator_bridge_contrib.timeseries.file_readers import (
    CSVReader,
    ReaderBaseTimeSeriesParser,
    TFExampleReader,
)
from estimator_bridge_contrib.timeseries.readers import NumpyReader, TimeSeriesReader
from estimator_bridge_contrib.timeseries.window_inputs import (
    RandomWindowInputFn,
    TimeSeriesInputFn,
    WholeDatasetInputFn,
)

__all__ = [
    "CSVReader",
    "NumpyReader",
    "RandomWindowInputFn",
    "ReaderBaseTimeSeriesParser",
    "TFExampleReader",
    "TimeSeriesInputFn",
    "TimeSeriesReader",
    "WholeDatasetInputFn",
    "predict_continuation_input_fn",
]
