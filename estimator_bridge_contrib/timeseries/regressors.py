"""TimeSeriesRegressor, and its subclasses for models of windows."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.optimizers import optimizer_v1
from estimator_bridge.training import EstimatorV1
from estimator_bridge_contrib.timeseries.ar_model import (
    AnomalyMixtureARModel,
    ARModel,
    FlatPredictionModel,
    LSTMPredictionModel,
)
from estimator_bridge_contrib.timeseries.head import (
    OneShotPredictionHead,
    TimeSeriesRegressionHead,
)
from estimator_bridge_contrib.timeseries.input_statistics import (
    InputStatisticsFromMiniBatch,
)
from estimator_bridge_contrib.timeseries.serving_inputs import (
    one_shot_receiver_fn,
    raw_receiver_fn,
)
from estimator_bridge_contrib.timeseries.state_management import (
    FilteringOnlyStateManager,
    PassthroughStateManager,
)

__all__ = ["ARRegressor", "LSTMAutoRegressor", "TimeSeriesRegressor"]

_train = tf.compat.v1.train
_Folder = str | os.PathLike[str] | None


class TimeSeriesRegressor(EstimatorV1):
    """Trains a model of a series.

    Args:
      model: the model, a TimeSeriesModel.
      state_manager: with which state a window begins; by default the model's start state.
      optimizer: an optimizer of tf.compat.v1.train; by default Adam with a learning rate of 0.02.
      model_dir: see `Estimator`.
      config: as well.
      head_type: the class of the head, TimeSeriesRegressionHead or a subclass.
    """

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: _Folder = None,
        config: Any = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ):
        if state_manager is None:
            takes_states = isinstance(model, ARModel)
            state_manager = (
                FilteringOnlyStateManager() if takes_states else PassthroughStateManager()
            )
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=_train.AdamOptimizer(0.02) if optimizer is None else optimizer,
            input_statistics_generator=InputStatisticsFromMiniBatch(
                dtype=model.dtype, num_features=model.num_features
            ),
        )
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], Any]:
        """Makes a receiver function for an export that takes serialized examples.

        The estimator's head must be a OneShotPredictionHead.

        Args:
          filtering_length: the number of times with values.
          prediction_length: the number of times to predict. Times and features besides the series
            are needed for both.
          default_batch_size: the only size of a batch to accept; any by default.
          values_input_dtype: the type of the values in an example, float32 or int64.
          truncate_values: whether examples have values also for the times to predict, which are not
            used.

        Returns:
          A function to give to ``export_saved_model``. The export takes strings [batch]. Calling it
          raises a ValueError if a feature column's spec has no fixed length.
        """
        return one_shot_receiver_fn(
            self._model,
            filtering_length,
            prediction_length,
            default_batch_size,
            values_input_dtype,
            truncate_values,
        )

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], Any]:
        """Makes a receiver function for an export that takes arrays, also of the state.

        Args:
          default_batch_size: the only size of a batch to accept; any by default.
          default_series_length: the only length of a series to accept; any by default.

        Returns:
          A function to give to ``export_saved_model``.
        """
        return raw_receiver_fn(self._model, default_batch_size, default_series_length)


class ARRegressor(TimeSeriesRegressor):
    """Trains an autoregressive model of dense layers.

    Args:
      periodicities: see `ARModel`.
      input_window_size: as well.
      output_window_size: as well. The windows of training have the sum of both sizes.
      num_features: as well.
      exogenous_feature_columns: as well.
      num_time_buckets: as well.
      loss: as well.
      hidden_layer_sizes: see `FlatPredictionModel`.
      anomaly_prior_probability: the probability of an outlier; see `AnomalyMixtureARModel`. None
        for a model without outliers.
      anomaly_distribution: the outliers' distribution.
      optimizer: an optimizer of tf.compat.v1.train; by default Adagrad with a learning rate of 0.1.
      model_dir: see `Estimator`.
      config: as well.

    Raises:
      ValueError: a distribution of outliers is given without their probability, or outliers with
        SQUARED_LOSS.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: _Folder = None,
        config: Any = None,
    ):
        options: dict[str, Any] = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
            "prediction_model_factory": functools.partial(
                FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
            ),
        }
        model: ARModel
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError(
                    "anomaly_prior_probability is required if anomaly_distribution is specified. "
                    f"Got anomaly_distribution={anomaly_distribution!r}."
                )
            model = ARModel(loss=loss, **options)
        else:
            if loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError(
                    "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS "
                    f"for its loss argument. Got {loss!r}."
                )
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution,  # type: ignore[arg-type]
                **options,
            )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=_train.AdagradOptimizer(0.1) if optimizer is None else optimizer,
            model_dir=model_dir,
            config=config,
        )


class LSTMAutoRegressor(TimeSeriesRegressor):
    """Trains an autoregressive model of LSTMs, whose head is a OneShotPredictionHead.

    Args:
      periodicities: see `ARModel`.
      input_window_size: as well.
      output_window_size: as well. The windows of training have the sum of both sizes.
      model_dir: see `Estimator`.
      num_features: see `ARModel`.
      extra_feature_columns: feature columns of what is known besides the series.
      num_timesteps: the number of buckets of a period.
      loss: see `ARModel`.
      num_units: the size of the LSTMs' state.
      optimizer: an optimizer, its name, or a function that makes one; by name, the learning rate is
        0.01.
      config: see `Estimator`.

    Raises:
      ValueError: the optimizer is unknown.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: _Folder = None,
        num_features: int = 1,
        extra_feature_columns: Sequence[Any] | None = None,
        num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: Any = None,
    ):
        model = ARModel(
            periodicities=periodicities,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            num_features=num_features,
            exogenous_feature_columns=extra_feature_columns,
            num_time_buckets=num_timesteps,
            loss=loss,
            prediction_model_factory=functools.partial(LSTMPredictionModel, num_units=num_units),
        )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=optimizer_v1(optimizer, 0.01),
            model_dir=model_dir,
            config=config,
            head_type=OneShotPredictionHead,
        )
