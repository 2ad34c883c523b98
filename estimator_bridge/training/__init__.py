"""The outer loop: training, evaluation, prediction, hooks."""

from estimator_bridge.training.async_saver import AsyncCheckpoints, AsyncCheckpointSaverHook
from estimator_bridge.training.continuous import EvalSpec, TrainSpec, train_and_evaluate
from estimator_bridge.training.estimator import Estimator
from estimator_bridge.training.estimator_v1 import EstimatorV1, predict_at_call
from estimator_bridge.training.exporters import (
    BestExporter,
    Exporter,
    FinalExporter,
    LatestExporter,
)
from estimator_bridge.training.input_position import CheckpointInputPipelineHook
from estimator_bridge.training.monitoring import Monitor, write_report
from estimator_bridge.training.profile_steps import ProfileSteps
from estimator_bridge.training.progress_reports import MachineUse, ProgressHook, StepReport
from estimator_bridge.training.supervision.grace_period import GracePeriod
from estimator_bridge.training.supervision.rescue_checkpoint import RescueCheckpoint
from estimator_bridge.training.supervision.watchdog import Watchdog

__all__ = [
    "AsyncCheckpointSaverHook",
    "AsyncCheckpoints",
    "BestExporter",
    "CheckpointInputPipelineHook",
    "Estimator",
    "EstimatorV1",
    "EvalSpec",
    "Exporter",
    "FinalExporter",
    "GracePeriod",
    "LatestExporter",
    "MachineUse",
    "Monitor",
    "ProfileSteps",
    "ProgressHook",
    "RescueCheckpoint",
    "StepReport",
    "TrainSpec",
    "Watchdog",
    "predict_at_call",
    "train_and_evaluate",
    "write_report",
]


def __dir__() -> list[str]:
    return sorted(__all__)
