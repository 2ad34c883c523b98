"""Classes and functions of ``training`` from which libraries derive their own loops."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.training.continuous import (
    ContinuousEvalListener,
    EvalSpec,
    TrainingExecutor,
    TrainSpec,
)
from estimator_bridge.training.continuous.checks import (
    check_exporters,
    check_hooks,
    check_input_fn,
    check_listeners,
)
from estimator_bridge.training.continuous.evaluator import Evaluator
from estimator_bridge.training.continuous.listeners import EvaluateAfterSaving
from estimator_bridge.training.continuous.specs import check_eval_spec
from estimator_bridge.training.parameter_servers import start_server

__all__ = [
    "DELAY_SECS_PER_WORKER",
    "MAX_DELAY_SECS",
    "NewCheckpointListenerForEvaluate",
    "OriginalExecutor",
    "StopAtSecsHook",
    "assert_eval_spec",
    "is_google_env",
    "validate_exporters",
    "validate_hooks",
    "validate_input_fn",
    "validate_saving_listeners",
]

# The delay of the original's workers before they began, and its maximum. Tests of programs set them
# to 0. They have no effect here: RunConfig's experimental_max_worker_delay_secs has, on parameter
# servers; other workers train in lockstep, and start immediately.
DELAY_SECS_PER_WORKER = 5
MAX_DELAY_SECS = 60

_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook


def assert_eval_spec(eval_spec: Any) -> None:
    """Checks that there is an EvalSpec.

    Raises:
      TypeError: it is something else.
    """
    check_eval_spec(eval_spec)


def validate_input_fn(input_fn: Any) -> None:
    """Checks that an input_fn can be called; see `check_input_fn`."""
    check_input_fn(input_fn)


def validate_hooks(hooks: Any) -> tuple[Any, ...]:
    """Returns the hooks as a tuple; see `check_hooks`."""
    return check_hooks(hooks)


def validate_saving_listeners(saving_listeners: Any) -> tuple[Any, ...]:
    """Returns the listeners as a tuple; see `check_listeners`."""
    return check_listeners(saving_listeners)


def validate_exporters(exporters: Any) -> tuple[Any, ...]:
    """Returns the exporters as a tuple; see `check_exporters`."""
    return check_exporters(exporters)


def is_google_env() -> bool:
    """Returns whether TF_CONFIG's 'environment' is 'google'."""
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if not tf_config:
        logging.warning("TF_CONFIG should not be empty in distributed environment.")
    return tf_config.get("environment") == "google"


class StopAtSecsHook(_SessionRunHook):
    """Stops training after a number of seconds.

    Args:
      stop_after_secs: the seconds from the start of the session.
    """

    def __init__(self, stop_after_secs: float):
        self._stop_after_secs = stop_after_secs
        self._start_time = 0.0

    def begin(self) -> None:
        """Called before the session is made."""
        self._start_time = time.monotonic()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Called after each step."""
        del run_values
        if time.monotonic() - self._start_time >= self._stop_after_secs:
            run_context.request_stop()


class NewCheckpointListenerForEvaluate(EvaluateAfterSaving):
    """Evaluates each checkpoint that training writes; see `EvaluateAfterSaving`.

    Args:
      evaluator: an object with a method evaluate_and_export.
      eval_throttle_secs: the minimum time between the starts of two evaluations.
      continuous_eval_listener: a listener that is notified of evaluations.
    """

    def __init__(
        self,
        evaluator: Any,
        eval_throttle_secs: float,
        continuous_eval_listener: ContinuousEvalListener,
    ):
        super().__init__(evaluator, eval_throttle_secs, continuous_eval_listener)


class OriginalExecutor(TrainingExecutor):
    """A `TrainingExecutor` with the attributes and methods that subclasses use or override.

    Args:
      estimator: the Estimator.
      train_spec: the training specification.
      eval_spec: the evaluation specification; None for a role that only trains.
      train_hooks: hooks in addition to those of train_spec.
      continuous_eval_listener: a listener that is notified of evaluations.
    """

    _Evaluator = Evaluator

    def __init__(
        self,
        estimator: Any,
        train_spec: TrainSpec,
        eval_spec: EvalSpec | None,
        train_hooks: Iterable[Any] | None = None,
        continuous_eval_listener: ContinuousEvalListener | None = None,
    ):
        super().__init__(estimator, train_spec, eval_spec, train_hooks, continuous_eval_listener)
        self._continuous_eval_listener = self._listener

    def run_chief(self) -> None:
        """Trains with the workers; writes checkpoints and summaries."""
        self._start_distributed_training(self._train_spec.saving_listeners)

    def run_worker(self) -> None:
        """Trains with the chief."""
        self._start_distributed_training()

    def run_evaluator(self) -> Any:
        """Evaluates the checkpoints that the chief writes, until training ends."""
        return self._start_continuous_evaluation()

    def _start_distributed_training(self, saving_listeners: Any = None) -> None:
        self._train_in_cluster(tuple(saving_listeners or ()))

    def _start_std_server(self, config: Any) -> Any:
        return start_server(config)

    def _start_continuous_evaluation(self) -> Any:
        return super().run_evaluator()
