"""Runs tf.estimator and TPUEstimator programs on today's TensorFlow."""

from estimator_bridge.compatibility import check_versions
from estimator_bridge.legacy_keras import use_legacy_keras
from estimator_bridge.version import __version__

# Before anything below imports TensorFlow: its search paths are fixed while it is imported.
check_versions()
use_legacy_keras()

from estimator_bridge import (
    data,
    errors,
    experimental,
    export,
    inputs,
    runtime,
    testing,
    tpu,
    training,
)
from estimator_bridge.experimental.extenders import add_metrics
from estimator_bridge.legacy import install
from estimator_bridge.legacy.missing import MISSING, missing_getattr
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
    "BestExporter",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LatestExporter",
    "LoggingTensorHook",
    "ModeKeys",
    "Model",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
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
    "data",
    "errors",
    "experimental",
    "export",
    "inputs",
    "install",
    "runtime",
    "testing",
    "tpu",
    "train_and_evaluate",
    "training",
]

__getattr__ = missing_getattr(__name__, MISSING[""])
