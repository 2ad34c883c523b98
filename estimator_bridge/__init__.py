"""Runs tf.estimator and TPUEstimator programs on today's TensorFlow."""

from estimator_bridge.compatibility import check_versions
from estimator_bridge.legacy_keras import use_legacy_keras
from estimator_bridge.version import __version__

# Before anything below imports TensorFlow: its search paths are fixed while it is imported.
check_versions()
use_legacy_keras()

from estimator_bridge import data, errors, export, inputs, runtime, tpu, training
from estimator_bridge.model import EstimatorSpec, ModeKeys, Model, RunConfig
from estimator_bridge.training import Estimator

__all__ = [
    "Estimator",
    "EstimatorSpec",
    "ModeKeys",
    "Model",
    "RunConfig",
    "__version__",
    "data",
    "errors",
    "export",
    "inputs",
    "runtime",
    "tpu",
    "training",
]
