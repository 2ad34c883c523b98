"""A model under a tf.distribute strategy: each replica reads its own elements of the input."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput, call_input_fn
from estimator_bridge.data.static_shapes import check_static
from estimator_bridge.model import ModeKeys, RunConfig
from estimator_bridge.runtime import local_replicas
from estimator_bridge.tensorflow_private.graphs import loss_is_scaled
from estimator_bridge.training.distribution.divergence_check import check_no_divergence
from estimator_bridge.training.distribution.strategies import input_context
from estimator_bridge.training.distribution.tracing_strategy import TracingStrategy
from estimator_bridge.training.execution import Execution, TracedModel
from estimator_bridge.training.input_plan import InputPlan, TracedBatch
from estimator_bridge.training.loop_limits import LoopLimits

__all__ = ["DistributedExecution"]

_v1 = tf.compat.v1


class DistributedExecution(Execution):
    """The replicas of a strategy; in each step, each replica reads one element of the input.

    So the dataset's batch is one replica's batch, and the global batch consists of one batch for
    each replica.

    Args:
      strategy: the strategy that runs the replicas: see ``strategy_for``.
      config: the estimator's config.
    """

    def __init__(self, strategy: tf.distribute.Strategy, config: RunConfig):
        super().__init__(strategy, config)
        self._steps_per_call = getattr(strategy.extended, "steps_per_run", None)
        self._tracing = TracingStrategy(self.strategy)
        self.elements = local_replicas(self.strategy)

    @contextlib.contextmanager
    def scope(self, mode: str) -> Iterator[None]:
        """The strategy's scope, outside of the replicas."""
        is_training = mode == ModeKeys.TRAIN
        with self._tracing.training_scope() if is_training else self._tracing.scope():
            yield

    def plan_input(
        self, input_fn: Callable[..., Any], graph: tf.Graph, mode: str, params: Mapping[str, Any]
    ) -> InputPlan:
        """Returns a replica's element; on a TPU's cores its shapes have to be static.

        Raises:
          ValueError: they are not static.
        """
        plan = super().plan_input(input_fn, graph, mode, params)
        if self.strategy.extended.experimental_require_static_shapes:
            check_static(plan.input.spec, allow_partial_batch=False)
        return plan

    def _call_input_fn(
        self, input_fn: Callable[..., Any], graph: tf.Graph, mode: str, params: Mapping[str, Any]
    ) -> BatchInput:
        """Calls an input_fn, with an input_context if it takes one."""
        return call_input_fn(
            input_fn,
            graph,
            mode=mode,
            params=params,
            config=self.config,
            input_context=input_context(self.strategy),
        )

    def loop_limits(self, mode: str, steps: int | None = None) -> LoopLimits:
        """Returns the limits of a call: a TPU strategy's own number of steps, if it has one."""
        if mode == ModeKeys.TRAIN and (self._steps_per_call or 1) > 1:
            return LoopLimits(steps=self._steps_per_call)
        return super().loop_limits(mode, steps)

    def _examples(self, batch_input: BatchInput) -> int | None:
        each = super()._examples(batch_input)
        return each and each * self.strategy.num_replicas_in_sync

    def trace(
        self, model_fn: Callable[..., Any], batch: TracedBatch, mode: str, params: Mapping[str, Any]
    ) -> TracedModel:
        """Calls model_fn once, for one replica."""
        with self._tracing.replica_context():
            traced = super().trace(model_fn, batch, mode, params)
        if mode != ModeKeys.TRAIN:
            return traced
        check_no_divergence(
            _v1.get_default_graph(), traced.operations, self.strategy.num_replicas_in_sync
        )
        loss = self._tracing.reduce(_loss_reduction(), traced.spec.loss, axis=None)
        return dataclasses.replace(traced, spec=traced.spec._replace(loss=loss), loss=loss.name)


def _loss_reduction() -> tf.distribute.ReduceOp:
    """Returns the reduction of the replicas' losses to the reported loss, as in the original.

    It is the mean if a v1 optimizer scaled the loss, as it does for losses that are means over a
    batch. Otherwise it is the sum.
    """
    if loss_is_scaled(_v1.get_default_graph()):
        return _v1.distribute.get_loss_reduction()
    return tf.distribute.ReduceOp.SUM
