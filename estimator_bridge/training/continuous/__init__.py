"""Alternating training and evaluation: the specs, the processes' roles and the schedule."""

from estimator_bridge.training.continuous.evaluation_results import EvalResult, EvalStatus
from estimator_bridge.training.continuous.executor import TrainingExecutor
from estimator_bridge.training.continuous.listeners import ContinuousEvalListener
from estimator_bridge.training.continuous.specs import EvalSpec, TrainSpec
from estimator_bridge.training.continuous.train_and_evaluate import train_and_evaluate

__all__ = [
    "ContinuousEvalListener",
    "EvalResult",
    "EvalSpec",
    "EvalStatus",
    "TrainSpec",
    "TrainingExecutor",
    "train_and_evaluate",
]
