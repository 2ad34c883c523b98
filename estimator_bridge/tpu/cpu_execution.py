"""A TPU model run with use_tpu=False: one replica on the whole batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, InputPipelineConfig, ModeKeys, TPURunConfig
from estimator_bridge.training.distribution import DistributedExecution
from estimator_bridge.training.execution import Execution, TracedModel
from estimator_bridge.training.input_plan import InputPlan, TracedBatch
from estimator_bridge.training.params import with_params

__all__ = ["CPUExecution", "DistributedCPUExecution"]


class CPUExecution(Execution):
    """An Execution on one replica, with the params that TPU programs expect.

    Args:
      strategy: a strategy with one replica.
      config: the estimator's.
      batch_size: the global batch of the mode, or None.
    """

    config: TPURunConfig
    step_is_resource = True
    runs_on = "CPU/GPU"

    def __init__(
        self, strategy: tf.distribute.Strategy, config: TPURunConfig, batch_size: int | None
    ):
        super().__init__(strategy, config)
        self._batch_size = batch_size

    def plan_input(
        self, input_fn: Callable, graph: tf.Graph, mode: str, params: Mapping[str, Any]
    ) -> InputPlan:
        """Calls input_fn with params['batch_size'].

        Raises:
          ValueError: the mode is not training and its input is SLICED, which needs several
            replicas.
        """
        evaluation = self.config.tpu_config.eval_training_input_configuration
        if mode != ModeKeys.TRAIN and evaluation == InputPipelineConfig.SLICED:
            raise ValueError(
                "InputPipelineConfig.SLICED is not supported with use_tpu=False: there is one "
                "replica, so there is nothing to slice. Leave eval_training_input_configuration "
                "out of TPUConfig."
            )
        return super().plan_input(input_fn, graph, mode, self._with_batch_size(params))

    def trace(
        self, model_fn: Callable, batch: TracedBatch, mode: str, params: Mapping[str, Any]
    ) -> TracedModel:
        """Calls model_fn with params['batch_size'] and params['use_tpu']."""
        return super().trace(model_fn, batch, mode, self._for_model(params))

    def call_model_fn(
        self, model_fn: Callable, features: Any, labels: Any, mode: str, params: Mapping[str, Any]
    ) -> EstimatorSpec:
        """Calls model_fn with params['batch_size'] and params['use_tpu']; returns only its spec."""
        return super().call_model_fn(model_fn, features, labels, mode, self._for_model(params))

    def _for_model(self, params: Any) -> Any:
        return with_params(self._with_batch_size(params), use_tpu=False)

    def _with_batch_size(self, params: Any) -> Any:
        entries = {} if self._batch_size is None else {"batch_size": self._batch_size}
        return with_params(params, **entries)


class DistributedCPUExecution(CPUExecution, DistributedExecution):
    """A CPUExecution under train_distribute or eval_distribute: each replica has a batch."""
