"""The outer loop: training, evaluation, prediction, hooks."""

from estimator_bridge.training.estimator import Estimator
from estimator_bridge.training.input_position import CheckpointInputPipelineHook
from estimator_bridge.training.reports import ProgressHook, StepReport

__all__ = ["CheckpointInputPipelineHook", "Estimator", "ProgressHook", "StepReport"]
