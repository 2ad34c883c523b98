"""Modules that provide this library as tf.estimator and tf.compat.v1.estimator."""

from __future__ import annotations

import sys
from types import ModuleType

from estimator_bridge.legacy.lazy_module import LazyModule

__all__ = ["CANNED_NAMES", "PARSE_EXAMPLE_SPECS", "V1_NAMES", "V2_NAMES", "face_v1", "face_v2"]

V2_NAMES = (
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BestExporter",
    "BinaryClassHead",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "Head",
    "LatestExporter",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LoggingTensorHook",
    "LogisticRegressionHead",
    "ModeKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "PoissonRegressionHead",
    "ProfilerHook",
    "RegressionHead",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "add_metrics",
    "classifier_parse_example_spec",
    "experimental",
    "export",
    "regressor_parse_example_spec",
    "train_and_evaluate",
)
V1_NAMES = (*V2_NAMES, "inputs", "tpu")
# Canned estimators, whose classes differ between tf.compat.v1.estimator and tf.estimator.
CANNED_NAMES = tuple(name for name in V2_NAMES if name.startswith(("Baseline", "DNN", "Linear")))
# Functions that have separate V1 versions, which take V1 feature columns.
PARSE_EXAMPLE_SPECS = ("classifier_parse_example_spec", "regressor_parse_example_spec")


def face_v1() -> ModuleType:
    """Returns the module for ``tf.compat.v1.estimator``."""
    own = {
        "Estimator": "estimator_bridge.training.EstimatorV1",
        **{name: f"estimator_bridge.canned.{name}V1" for name in CANNED_NAMES},
        **{name: f"estimator_bridge.heads.{name}_v1" for name in PARSE_EXAMPLE_SPECS},
    }
    return _face("v1", "tf.compat.v1.estimator", V1_NAMES, own, {})


def face_v2() -> ModuleType:
    """Returns the module for ``tf.estimator``."""
    only_v1 = "is only in tf.compat.v1.estimator: use tf.compat.v1.estimator.{}."
    missing = {name: only_v1.format(name) for name in V1_NAMES if name not in V2_NAMES}
    return _face("v2", "tf.estimator", V2_NAMES, {}, missing)


def _face(
    version: str, shown: str, names: tuple[str, ...], own: dict[str, str], missing: dict[str, str]
) -> ModuleType:
    name = f"estimator_bridge.legacy.{version}"
    if name not in sys.modules:
        targets = {target: f"estimator_bridge.{target}" for target in names}
        sys.modules[name] = LazyModule(name, {**targets, **own}, missing, shown)
    return sys.modules[name]
