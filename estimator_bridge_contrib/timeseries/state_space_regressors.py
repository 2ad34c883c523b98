"""Estimators of models of hidden states."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.filtering_postprocessor import (
    StateInterpolatingAnomalyDetector,
)
from estimator_bridge_contrib.timeseries.head import TimeSeriesRegressionHead
from estimator_bridge_contrib.timeseries.regressors import TimeSeriesRegressor
from estimator_bridge_contrib.timeseries.state_management import ChainingStateManager
from estimator_bridge_contrib.timeseries.state_space import StateSpaceModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    StateSpaceModelConfiguration,
)
from estimator_bridge_contrib.timeseries.structural_ensemble import (
    MultiResolutionStructuralEnsemble,
)

__all__ = ["StateSpaceRegressor", "StructuralEnsembleRegressor"]

_Folder = str | os.PathLike[str] | None


class StateSpaceRegressor(TimeSeriesRegressor):
    """Trains a model of hidden states.

    Args:
      model: a StateSpaceModel.
      state_manager: see `TimeSeriesRegressor`; by default a ChainingStateManager.
      optimizer: see `TimeSeriesRegressor`.
      model_dir: as well.
      config: as well.
      head_type: as well.

    Raises:
      ValueError: the model is of another kind.
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
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                "StateSpaceRegressor only supports state space models (children of "
                f"StateSpaceModel) in its `model` argument, got {model}. Use TimeSeriesRegressor."
            )
        super().__init__(
            model=model,
            state_manager=ChainingStateManager() if state_manager is None else state_manager,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )


class StructuralEnsembleRegressor(StateSpaceRegressor):
    """Trains a model of a level with a slope, of periods, and of deviations that pass.

    It takes windows of any size. States are kept from step to step, so an evaluation should have
    one window with the whole series (WholeDatasetInputFn), or see the series several times.

    Args:
      periodicities: a period, or a list of them, in the unit of the times; any numbers.
      num_features: the number of features.
      cycle_num_latent_values: the number of values of a period's cycle, an odd number.
      moving_average_order: the number of steps after which a deviation has passed.
      autoregressive_order: the number of steps that the autoregression looks back.
      exogenous_feature_columns: see `SequentialTimeSeriesModel`.
      exogenous_update_condition: as well.
      dtype: the type of floats; long series may need float64.
      anomaly_prior_probability: the probability of an outlier, which then counts less; None to
        count all values.
      optimizer: see `TimeSeriesRegressor`.
      model_dir: as well.
      config: as well.
      head_type: as well.

    Raises:
      ValueError: a number of values is even, or their list has another length than the periods'.
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: Any = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        dtype: Any = tf.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: _Folder = None,
        config: Any = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ):
        detector = None
        if anomaly_prior_probability is not None:
            detector = StateInterpolatingAnomalyDetector(
                anomaly_prior_probability=anomaly_prior_probability
            )
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values,
            moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order,
            periodicities=periodicities,
            configuration=StateSpaceModelConfiguration(
                num_features=num_features,
                dtype=dtype,
                filtering_postprocessor=detector,
                exogenous_feature_columns=exogenous_feature_columns,
                exogenous_update_condition=exogenous_update_condition,
            ),
        )
        super().__init__(
            model=model,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )
