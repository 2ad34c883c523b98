"""Estimators of models of series, under the name of their file in TensorFlow 1."""

from estimator_bridge_contrib.timeseries.regressors import (
    ARRegressor,
    LSTMAutoRegressor,
    TimeSeriesRegressor,
)
from estimator_bridge_contrib.timeseries.state_space_regressors import (
    StateSpaceRegressor,
    StructuralEnsembleRegressor,
)

__all__ = [
    "ARRegressor",
    "LSTMAutoRegressor",
    "StateSpaceRegressor",
    "StructuralEnsembleRegressor",
    "TimeSeriesRegressor",
]
