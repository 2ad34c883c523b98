"""TimeSeriesModel: the base class of models of series."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures
from estimator_bridge_contrib.timeseries.state_tables import replicate_state

__all__ = ["ModelOutputs", "TimeSeriesModel"]

_v1 = tf.compat.v1


class ModelOutputs(NamedTuple):
    """The outputs of a model for a batch of windows.

    Attributes:
      loss: a number.
      end_state: the model's state after the windows, nested tensors, [batch, ...].
      predictions: tensors by name, [batch, times, ...].
      prediction_times: their times, [batch, times].
    """

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """Describes a model of a series; an estimator makes its graph.

    Args:
      num_features: the number of features.
      exogenous_feature_columns: feature columns of what a model knows besides the series.
      dtype: the type of the model's floats.
    """

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        dtype: Any = tf.float32,
    ):
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: Any = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Sequence[Any]:
        """Feature columns of what a model knows besides the series."""
        return self._exogenous_feature_columns

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Mapping[Any, Any] | None = None,
        seed: int | None = None,
    ) -> Any:
        """Draws series from the model, if a subclass can.

        Args:
          number_of_series: the number of series.
          series_length: their length.
          model_parameters: values to use instead of the trained ones, by tensor.
          seed: the seed of the draws.

        Returns:
          Arrays by name: times, [series, length]; values, [series, length, features].

        Raises:
          NotImplementedError: the model cannot.
        """
        raise NotImplementedError(
            f"This model does not support generation: {type(self).__name__} has no method generate."
        )

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes what the model's other methods need in the current graph.

        Args:
          input_statistics: statistics of the series, an InputStatistics; without them, data are
            not scaled.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = tf.sqrt(variances)

    def _scale_data(self, data: Any) -> Any:
        """Scales data to mean 0 and variance 1."""
        if self._input_statistics is None:
            return data
        return (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Any) -> Any:
        """Scales variances as `_scale_data` scales data."""
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        """Undoes `_scale_data`."""
        if self._input_statistics is None:
            return data
        return data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        """Undoes `_scale_variance`."""
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        """Raises a ValueError if `initialize_graph` has not been called."""
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. Call it in "
                "the graph, before the model's other methods."
            )

    def define_loss(self, features: Mapping[str, Any], mode: str) -> ModelOutputs:
        """Computes the loss of windows, each of which begins with the start state.

        Args:
          features: tensors by name: times [batch, window], values [batch, window, features], and
            those of the feature columns.
          mode: ModeKeys.TRAIN or ModeKeys.EVAL.

        Raises:
          ValueError: `initialize_graph` has not been called.
        """
        self._check_graph_initialized()
        state = replicate_state(
            start_state=self.get_start_state(),
            batch_size=tf.shape(features[TrainEvalFeatures.TIMES])[0],
        )
        return self.get_batch_loss(features=features, mode=mode, state=state)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """Returns the state before the series: nested tensors without a batch's dimension."""

    @abc.abstractmethod
    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Computes the loss of windows.

        Args:
          features: see `define_loss`.
          mode: as well.
          state: the state before each window, [batch, ...].
        """

    @abc.abstractmethod
    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Predicts values.

        Args:
          features: tensors by name: times [batch, window]; start_tuple, the state, [batch, ...];
            and those of the feature columns.

        Returns:
          Tensors by name, [batch, window, ...].
        """

    def _get_exogenous_embedding_shape(self) -> Sequence[int]:
        """Returns the shape of what `_process_exogenous_features` makes for a time."""
        if not self._exogenous_feature_columns:
            return (0,)
        with tf.Graph().as_default():
            spec = tf.feature_column.make_parse_example_spec(self._exogenous_feature_columns)
            examples = _v1.placeholder(tf.string, [None])
            dense = _v1.feature_column.input_layer(
                _v1.parse_example(examples, spec), self._exogenous_feature_columns
            )
            return dense.shape.as_list()[1:]

    def _process_exogenous_features(self, times: Any, features: Mapping[str, Any]) -> Any:
        """Makes one vector for each time of the features besides the series.

        Args:
          times: [batch, window].
          features: tensors by name, [batch, window, ...].

        Returns:
          [batch, window, size]; None if the model has no feature columns.

        Raises:
          ValueError: a feature's number of dimensions is unknown.
        """
        if not self._exogenous_feature_columns:
            return None
        rows = {name: _rows(name, value) for name, value in features.items()}
        dense = _v1.feature_column.input_layer(
            rows, self._exogenous_feature_columns, trainable=True
        )
        shape = tf.concat([tf.shape(times), tf.shape(dense)[1:]], axis=0)
        vectors = tf.reshape(dense, shape)
        vectors.set_shape(times.shape.concatenate(dense.shape[1:]))
        return tf.cast(vectors, self.dtype)


def _rows(name: str, value: Any) -> tf.Tensor:
    """Makes one dimension of the batch's and the window's."""
    if value.shape.ndims is None:
        raise ValueError(
            f"Features with unknown rank are not supported. Got shape {value.shape} for feature "
            f"{name}."
        )
    shape = tf.shape(value)
    rows = tf.reshape(value, tf.concat([[shape[0] * shape[1]], shape[2:]], axis=0))
    if rows.shape.ndims == 1 and rows.dtype != tf.string:
        return rows[:, None]  # feature columns of numbers expect a dimension for the number
    return rows
