"""The base classes of models of hidden states, under the name of their file in TensorFlow 1."""

from estimator_bridge_contrib.timeseries.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceEnsemble,
    StateSpaceIndependentEnsemble,
)
from estimator_bridge_contrib.timeseries.state_space import StateSpaceModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    StateSpaceModelConfiguration,
)

__all__ = [
    "StateSpaceCorrelatedFeaturesEnsemble",
    "StateSpaceEnsemble",
    "StateSpaceIndependentEnsemble",
    "StateSpaceModel",
    "StateSpaceModelConfiguration",
]
