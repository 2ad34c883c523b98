"""Runs tf.estimator and TPUEstimator programs on today's TensorFlow.

To import this package loads neither TensorFlow nor the rest of the library: its names are found
when they are first used. So the command runs what needs no TensorFlow at once, and a program's own
settings for TensorFlow, made before it imports it, count.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from estimator_bridge.collector import spare_tensorflow_import
from estimator_bridge.compatibility import check_versions, is_the_command
from estimator_bridge.legacy_keras import use_legacy_keras
from estimator_bridge.missing import missing_getattr
from estimator_bridge.version import __version__

# Before TensorFlow is imported: its search paths are fixed while it is imported.
if not is_the_command(getattr(sys, "argv", [])):
    check_versions()
use_legacy_keras()
spare_tensorflow_import()

if TYPE_CHECKING:
    from estimator_bridge import (
        data,
        errors,
        experimental,
        export,
        heads,
        inputs,
        keras,
        runtime,
        testing,
        tpu,
        training,
        v1,
    )
    from estimator_bridge.canned import (
        BaselineClassifier,
        BaselineEstimator,
        BaselineRegressor,
        DNNClassifier,
        DNNEstimator,
        DNNLinearCombinedClassifier,
        DNNLinearCombinedEstimator,
        DNNLinearCombinedRegressor,
        DNNRegressor,
        LinearClassifier,
        LinearEstimator,
        LinearRegressor,
    )
    from estimator_bridge.experimental.extenders import add_metrics
    from estimator_bridge.heads import (
        BinaryClassHead,
        Head,
        LogisticRegressionHead,
        MultiClassHead,
        MultiHead,
        MultiLabelHead,
        PoissonRegressionHead,
        RegressionHead,
        classifier_parse_example_spec,
        regressor_parse_example_spec,
    )
    from estimator_bridge.legacy.install import install
    from estimator_bridge.legacy.v1_behavior import bridge_v1_behavior
    from estimator_bridge.model import EstimatorSpec, ModeKeys, Model, RunConfig, WarmStartSettings
    from estimator_bridge.training import (
        BestExporter,
        Estimator,
        EvalSpec,
        Exporter,
        FinalExporter,
        LatestExporter,
        TrainSpec,
        train_and_evaluate,
    )
    from estimator_bridge.training.session_run_hooks import (
        CheckpointSaverHook,
        CheckpointSaverListener,
        FeedFnHook,
        FinalOpsHook,
        GlobalStepWaiterHook,
        LoggingTensorHook,
        NanLossDuringTrainingError,
        NanTensorHook,
        ProfilerHook,
        SecondOrStepTimer,
        SessionRunArgs,
        SessionRunContext,
        SessionRunHook,
        SessionRunValues,
        StepCounterHook,
        StopAtStepHook,
        SummarySaverHook,
        VocabInfo,
    )

__all__ = [
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
    "Model",
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
    "__version__",
    "add_metrics",
    "bridge_v1_behavior",
    "classifier_parse_example_spec",
    "data",
    "errors",
    "experimental",
    "export",
    "heads",
    "inputs",
    "install",
    "keras",
    "regressor_parse_example_spec",
    "runtime",
    "testing",
    "tpu",
    "train_and_evaluate",
    "training",
    "v1",
]

# By the module that has them: the names above. What is not here is a module itself.
_PLACES = {
    "estimator_bridge.canned": """
        BaselineClassifier BaselineEstimator BaselineRegressor DNNClassifier DNNEstimator
        DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor
        DNNRegressor LinearClassifier LinearEstimator LinearRegressor
    """,
    "estimator_bridge.experimental.extenders": """
        add_metrics
    """,
    "estimator_bridge.heads": """
        BinaryClassHead Head LogisticRegressionHead MultiClassHead MultiHead MultiLabelHead
        PoissonRegressionHead RegressionHead classifier_parse_example_spec
        regressor_parse_example_spec
    """,
    "estimator_bridge.legacy.install": """
        install
    """,
    "estimator_bridge.legacy.v1_behavior": """
        bridge_v1_behavior
    """,
    "estimator_bridge.model": """
        EstimatorSpec ModeKeys Model RunConfig WarmStartSettings
    """,
    "estimator_bridge.training": """
        BestExporter Estimator EvalSpec Exporter FinalExporter LatestExporter TrainSpec
        train_and_evaluate
    """,
    "estimator_bridge.training.session_run_hooks": """
        CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook
        GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook
        ProfilerHook SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook
        SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook VocabInfo
    """,
}
_PLACE_OF = {name: module for module, names in _PLACES.items() for name in names.split()}
_fail = missing_getattr(__name__)

# A type checker is to know the names above and no others.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _PLACE_OF:
            value = getattr(importlib.import_module(_PLACE_OF[name]), name)
        elif name in __all__:
            value = importlib.import_module(f"{__name__}.{name}")
        else:
            return _fail(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
