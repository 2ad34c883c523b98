"""The base classes of models, under the name of their file in TensorFlow 1."""

from estimator_bridge_contrib.timeseries.base_model import ModelOutputs, TimeSeriesModel
from estimator_bridge_contrib.timeseries.sequential_model import SequentialTimeSeriesModel

__all__ = ["ModelOutputs", "SequentialTimeSeriesModel", "TimeSeriesModel"]
