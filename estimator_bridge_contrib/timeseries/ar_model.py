"""ARModel: predicts a window of a series from the window before and from the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import ModeKeys
from estimator_bridge_contrib.timeseries.ar_windows import (
    Windows,
    evaluate_windows,
    predict_windows,
)
from estimator_bridge_contrib.timeseries.base_model import ModelOutputs, TimeSeriesModel
from estimator_bridge_contrib.timeseries.feature_keys import (
    PredictionFeatures,
    TrainEvalFeatures,
)
from estimator_bridge_contrib.timeseries.log_densities import (
    cauchy_log_prob,
    normal_log_prob,
)
from estimator_bridge_contrib.timeseries.prediction_models import (
    FlatPredictionModel,
    LSTMPredictionModel,
)
from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = ["ARModel", "AnomalyMixtureARModel", "FlatPredictionModel", "LSTMPredictionModel"]

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_STATE = PredictionFeatures.STATE_TUPLE


class ARModel(TimeSeriesModel):
    """Predicts a window from the values before it, and from the time within periods.

    A period is cut into buckets, each of which is a feature: the part of the bucket that has passed
    at a time within it, and 0 at others.

    Args:
      periodicities: a period, or a list of them, in the unit of the times; None for none.
      input_window_size: the number of values before a window; 0 to predict from the time only.
      output_window_size: the number of values of a window.
      num_features: the number of features of the series.
      prediction_model_factory: a function of num_features, input_window_size and
        output_window_size, which returns a tf.keras.Model. It is called with vectors of both
        windows, and returns "mean" and "covariance".
      num_time_buckets: the number of buckets of a period.
      loss: ARModel.NORMAL_LIKELIHOOD_LOSS, or ARModel.SQUARED_LOSS, which does not train variances
        and predicts 1.
      exogenous_feature_columns: feature columns of what is known besides the series.

    Raises:
      AssertionError: a number is not positive, or the model has neither periods nor an input.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(
            num_features=num_features, exogenous_feature_columns=exogenous_feature_columns
        )
        self.exogenous_size = 0
        if exogenous_feature_columns is not None:
            self.exogenous_size = self._get_exogenous_embedding_shape()[-1]
        self._buckets = int(num_time_buckets)
        periods = periodicities or []
        period_list = periods if isinstance(periods, (list, tuple)) else [periods]
        self._periodicities = [int(period) for period in period_list]
        self._check_numbers()

    def _check_numbers(self) -> None:
        if self._buckets <= 0:
            raise AssertionError(f"num_time_buckets must be positive. Got {self._buckets}.")
        if any(period <= 0 for period in self._periodicities):
            raise AssertionError(f"periodicities must be positive. Got {self._periodicities}.")
        if not self._periodicities and not self.input_window_size:
            raise AssertionError(
                "A model without periodicities needs an input_window_size above 0."
            )
        if self.output_window_size <= 0:
            raise AssertionError(
                f"output_window_size must be positive. Got {self.output_window_size}."
            )

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the network in the current graph; see the base class."""
        super().initialize_graph(input_statistics=input_statistics)
        # Training calls the network outside of a loop, and prediction inside of one. The slash
        # leaves the scopes around it, so its variables have the same names in both.
        self._model_scope = _v1.variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> tuple[Any, Any, Any]:
        """Returns a state of zeros: times, values and vectors of an input window."""
        size = self.input_window_size
        return (
            tf.zeros([size], dtype=tf.int64),
            tf.zeros([size, self.num_features], dtype=self.dtype),
            tf.zeros([size, self.exogenous_size], dtype=self.dtype),
        )

    def random_model_parameters(self, seed: int | None = None) -> None:
        """Returns None, as in TensorFlow 1: there are no parameters to draw."""
        del seed

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Mapping[Any, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        """Returns None, as in TensorFlow 1: this model draws no series."""
        del number_of_series, series_length, model_parameters, seed

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> Any:
        """Predicts a window.

        Args:
          times: of both windows, [batch, window_size].
          values: before the window, [batch, input_window_size, features].
          exogenous_regressors: vectors of both windows, [batch, window_size, size].

        Returns:
          What the network returns: "mean" and "covariance", [batch, output_window_size, features].

        Raises:
          ValueError: a shape does not fit.
        """
        times.shape.assert_is_compatible_with([None, self.window_size])
        batch = tf.shape(times)[0]
        if self.input_window_size:
            values.shape.assert_is_compatible_with(
                [None, self.input_window_size, self.num_features]
            )
        if exogenous_regressors is not None:
            exogenous_regressors.shape.assert_is_compatible_with(
                [None, self.window_size, self.exogenous_size]
            )
        before, during = [], []
        sizes = (self.input_window_size, self.output_window_size)
        if self._periodicities:
            features = self._compute_time_features(times)[1]
            shape = [batch, self.window_size, self._buckets * len(self._periodicities)]
            parts = tf.split(tf.reshape(features, shape), sizes, axis=1)
            before.append(parts[0])
            during.append(parts[1])
        if self.input_window_size:
            past = tf.slice(values, [0, 0, 0], [-1, self.input_window_size, -1])
            before.append(tf.reshape(past, [batch, self.input_window_size, self.num_features]))
        if self.exogenous_size:
            parts = tf.split(exogenous_regressors, sizes, axis=1)
            before.append(parts[0])
            during.append(parts[1])
        feature_size = self._buckets * len(self._periodicities) + self.exogenous_size
        inputs = tf.concat(before, axis=2)
        if during:
            outputs = tf.concat(during, axis=2)
        else:
            outputs = tf.zeros([batch, self.output_window_size, 0], dtype=self.dtype)
        observed = self.num_features if self.input_window_size else 0
        inputs.set_shape([times.shape[0], self.input_window_size, feature_size + observed])
        outputs.set_shape([times.shape[0], self.output_window_size, feature_size])
        return self._output_window_predictions(inputs, outputs)

    def _output_window_predictions(self, inputs: Any, outputs: Any) -> Any:
        with self._model_scope:
            predictions = self._model_instance(inputs, outputs)
            for each in predictions.values():
                each.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> tf.Tensor:
        """Computes the mean loss of a window.

        Args:
          targets: [batch, output_window_size, features].
          prediction_ops: what `prediction_ops` returned.

        Raises:
          AssertionError: the model's loss is neither of the two.
        """
        mean = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            deviation = tf.sqrt(tf.maximum(prediction_ops["covariance"], 1e-5))
            total = -tf.reduce_sum(normal_log_prob(targets, deviation, mean))
        elif self.loss == ARModel.SQUARED_LOSS:
            total = tf.reduce_sum(tf.math.squared_difference(mean, targets))
        else:
            raise AssertionError(
                f"loss must be '{ARModel.SQUARED_LOSS}' or '{ARModel.NORMAL_LIKELIHOOD_LOSS}'. "
                f"Got {self.loss!r}."
            )
        return _mean_over(targets, total)

    def _process_exogenous_features(self, times: Any, features: Mapping[str, Any]) -> tf.Tensor:
        """Makes vectors of size 0 if there are no feature columns; see the base class."""
        vectors = super()._process_exogenous_features(times=times, features=features)
        if vectors is None:
            return tf.zeros(tf.concat([tf.shape(times), tf.constant([0])], axis=0))
        return vectors

    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Predicts any number of times.

        Args:
          features: tensors by name: times [batch, times]; start_tuple, the state, which has at
            least input_window_size times; and those of the feature columns.

        Returns:
          "mean" and "covariance", [batch, times, features].
        """
        if not self._graph_initialized:
            self.initialize_graph()
        times = tf.cast(tf.convert_to_tensor(features[_TIMES]), tf.int32)
        regressors = self._process_exogenous_features(
            times=times, features=_without(features, _TIMES, _VALUES, _STATE)
        )
        same = _v1.assert_equal(tf.shape(times)[1], tf.shape(regressors)[1])
        with tf.control_dependencies([same]):
            regressors = tf.identity(regressors)
        before, values, vectors = features[_STATE]
        state = (
            tf.cast(tf.convert_to_tensor(before), tf.int32),
            tf.convert_to_tensor(values, dtype=self.dtype),
            tf.convert_to_tensor(vectors, dtype=self.dtype),
        )
        mean, variance = predict_windows(self._windows(), times, regressors, state)
        if variance is None:
            variance = tf.ones_like(mean)
        return {
            "mean": self._scale_back_data(mean),
            "covariance": self._scale_back_variance(variance),
        }

    def _windows(self) -> Windows:
        return Windows(
            self.input_window_size,
            self.output_window_size,
            self.dtype,
            self.prediction_ops,
            self.loss != ARModel.SQUARED_LOSS,
        )

    def _process_window(
        self, features: Mapping[str, Any], mode: str, exogenous_regressors: Any
    ) -> ModelOutputs:
        """Computes the loss of one window with its input."""
        times = tf.cast(features[_TIMES], tf.int64)
        observed = tf.cast(features[_VALUES], self.dtype)
        regressors = tf.cast(exogenous_regressors, self.dtype)
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and "
                f"output_window_size={self.output_window_size} expects feature '{_TIMES}' to have "
                f"shape (batch_size, {self.window_size}) (for any batch_size), but got shape "
                f"{times.shape}. If you are using RandomWindowInputFn, set "
                f"window_size={self.window_size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel."
            )
        values = self._scale_data(observed)
        back, ahead = self.input_window_size, self.output_window_size
        prediction = self.prediction_ops(times, values[:, :back, :] if back else None, regressors)
        targets = tf.slice(values, [0, back, 0], [-1, -1, -1])
        targets.shape.assert_is_compatible_with(prediction["mean"].shape)
        if mode == ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            # An evaluation's squares are those of the series, not of scaled values.
            loss = self.loss_op(
                self._scale_back_data(targets), {"mean": self._scale_back_data(prediction["mean"])}
            )
        else:
            loss = self.loss_op(targets, prediction)
        return ModelOutputs(
            loss=loss,
            end_state=(times[:, -back:], values[:, -back:, :], regressors[:, -back:, :]),
            predictions={
                "mean": self._scale_back_data(prediction["mean"]),
                "covariance": self._scale_back_variance(prediction["covariance"]),
                "observed": observed[:, -ahead:],
            },
            prediction_times=times[:, -ahead:],
        )

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Computes the loss of windows.

        Args:
          features: tensors by name. In training, a window has window_size times. In evaluation it
            may have more: then windows are predicted one after the other, without overlaps.
          mode: ModeKeys.TRAIN or ModeKeys.EVAL.
          state: the times, values and vectors before each window, which the new state may need.

        Raises:
          ValueError: the mode is another one, or the window's size does not fit.
        """
        features = {name: tf.convert_to_tensor(value) for name, value in features.items()}
        regressors = self._process_exogenous_features(
            times=features[_TIMES], features=_without(features, _TIMES, _VALUES, _STATE)
        )
        if mode == ModeKeys.TRAIN:
            return self._process_window(features, mode=mode, exogenous_regressors=regressors)
        if mode == ModeKeys.EVAL:
            return self._evaluate(features, regressors, state)
        raise ValueError(
            f"Unknown mode '{mode}' passed to get_batch_loss. Use ModeKeys.TRAIN or ModeKeys.EVAL."
        )

    def _evaluate(self, features: Mapping[str, Any], regressors: Any, state: Any) -> ModelOutputs:
        times = features[_TIMES]
        times.shape.assert_has_rank(2)
        size = static_size(times, 1)
        if size is not None and size < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to "
                f"evaluate on (input_window_size={self.input_window_size}, "
                f"output_window_size={self.output_window_size}, and got shape {times.shape} for "
                f"feature '{_TIMES}' (batch size, window size))."
            )
        count = (tf.shape(times)[1] - self.input_window_size) // self.output_window_size
        predicted = count * self.output_window_size
        # Times at the beginning are dropped if whole windows do not cover all of them.
        whole_windows = {
            name: value[:, -(predicted + self.input_window_size) :]
            for name, value in features.items()
        }

        def evaluate(first: Any, end: Any) -> ModelOutputs:
            window = {name: value[:, first:end] for name, value in whole_windows.items()}
            return self._process_window(
                window, mode=ModeKeys.EVAL, exogenous_regressors=regressors[:, first:end]
            )

        loss, means, variances = evaluate_windows(self._windows(), count, evaluate)
        values = tf.cast(whole_windows[_VALUES], self.dtype)
        shape = [tf.shape(times)[0], self.output_window_size * count, self.num_features]

        def joined(parts: Any) -> tf.Tensor:
            return tf.reshape(tf.transpose(parts, [1, 0, 2, 3]), shape)

        return ModelOutputs(
            loss=loss,
            end_state=self._state_after(state, times, values, regressors),
            predictions={
                "mean": joined(means),
                "covariance": joined(variances),
                "observed": values[:, -predicted:],
            },
            prediction_times=times[:, -predicted:],
        )

    def _state_after(self, state: Any, times: Any, values: Any, regressors: Any) -> tuple[Any, ...]:
        """Returns the state after a window, which may be shorter than the state."""
        size = self.input_window_size
        if not size:
            return tuple(state)
        news = (tf.cast(times, tf.int64), self._scale_data(values), regressors)
        new_state = [tf.concat([old, new], axis=1)[:, -size:] for old, new in zip(state, news)]
        for each, width in zip(new_state, ((), (self.num_features,), (self.exogenous_size,))):
            each.set_shape((None, size, *width))
        return tuple(new_state)

    def _compute_time_features(self, time: Any) -> tuple[Any, Any]:
        """Computes features of times.

        Args:
          time: [batch, window].

        Returns:
          The number of periods that have passed, [batch, window, 1, periods], and the buckets,
          [batch, window, periods, buckets].
        """
        batch, count = tf.shape(time)[0], len(self._periodicities)
        periods = tf.constant(self._periodicities, shape=[1, 1, count, 1], dtype=time.dtype)
        time = tf.reshape(time, [batch, -1, 1, 1])
        passed = time / self._periodicities
        position = tf.cast(time % periods, self.dtype) * self._buckets
        position /= tf.cast(periods, self.dtype)
        starts = tf.reshape(tf.range(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets])
        since = tf.nn.relu(position - starts)
        return passed, tf.where(since < 1.0, since, tf.zeros_like(since))


class AnomalyMixtureARModel(ARModel):
    """An ARModel whose loss counts outliers less: they may come from a wider distribution.

    Args:
      periodicities: see `ARModel`.
      anomaly_prior_probability: the probability of an outlier, between 0 and 1.
      input_window_size: see `ARModel`.
      output_window_size: as well.
      num_features: as well.
      prediction_model_factory: as well.
      anomaly_distribution: the outliers' distribution, GAUSSIAN_ANOMALY or CAUCHY_ANOMALY.
      num_time_buckets: see `ARModel`.
      exogenous_feature_columns: as well.

    Raises:
      AssertionError: the probability or the distribution is none, or see `ARModel`.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        if not 0.0 < anomaly_prior_probability < 1.0:
            raise AssertionError(
                "anomaly_prior_probability must be between 0 and 1. Got "
                f"{anomaly_prior_probability}."
            )
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise AssertionError(
                f"anomaly_distribution must be '{self.GAUSSIAN_ANOMALY}' or "
                f"'{self.CAUCHY_ANOMALY}'. Got {anomaly_distribution!r}."
            )
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> Any:
        """Adds "anomaly_params", the outliers' variance or scale; see the base class."""
        predictions = super().prediction_ops(times, values, exogenous_regressors)
        log_parameter = _v1.get_variable(
            "anomaly_log_param", shape=[], dtype=self.dtype, initializer=_v1.zeros_initializer()
        )
        predictions["anomaly_params"] = tf.exp(log_parameter)
        return predictions

    def _anomaly_log_prob(self, targets: Any, prediction_ops: Mapping[str, Any]) -> tf.Tensor:
        mean, parameter = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.CAUCHY_ANOMALY:
            return cauchy_log_prob(targets, parameter, mean)
        return normal_log_prob(targets, tf.sqrt(tf.maximum(parameter, 1e-5)), mean)

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> tf.Tensor:
        """Computes the mean loss of a window; see the base class."""
        deviation = tf.sqrt(tf.maximum(prediction_ops["covariance"], 1e-5))
        usual = normal_log_prob(targets, deviation, prediction_ops["mean"])
        usual += tf.math.log(1 - self._anomaly_prior_probability)
        outlier = self._anomaly_log_prob(targets, prediction_ops)
        outlier += tf.math.log(self._anomaly_prior_probability)
        smaller, larger = tf.minimum(usual, outlier), tf.maximum(usual, outlier)
        mixed = larger + tf.math.log(1 + tf.exp(smaller - larger))
        return _mean_over(targets, -tf.reduce_sum(mixed))


def _mean_over(targets: Any, total: Any) -> tf.Tensor:
    return total / tf.cast(tf.reduce_prod(tf.shape(targets)), total.dtype)


def _without(features: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in features.items() if name not in names}
