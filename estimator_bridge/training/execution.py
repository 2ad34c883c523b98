"""The layout of a model's graph on one replica, as on a CPU."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput, call_input_fn
from estimator_bridge.model import EstimatorSpec, ModeKeys, RunConfig, TPUEstimatorSpec
from estimator_bridge.model.host_calls import HostCallHook, SummaryWritersHook
from estimator_bridge.runtime import BatchLayout, HostStage
from estimator_bridge.training.input_plan import InputPlan, TracedBatch
from estimator_bridge.training.loop_limits import LoopLimits
from estimator_bridge.training.model_call import call_model_fn

__all__ = ["LOSS", "Execution", "TracedModel", "add_loss_metric", "metric_values"]

LOSS = "loss"
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


@dataclasses.dataclass(frozen=True)
class TracedModel:
    """A model_fn's result in one mode, laid out for a step.

    Attributes:
      spec: the spec, in tensors of the whole graph. Evaluation's metrics include 'loss'.
      operations: the operations of each replica's step, '^name' each.
      loss: the replica's loss, by reference; None if the mode has none.
      outputs: in prediction, the tensors to return by key; '' if they are not a dict.
      host: the work of the host after each step.
      scaffold: the model's, or a default one.
      results: in evaluation, the tensors to compute at the end.
    """

    spec: EstimatorSpec
    operations: list[str]
    loss: str | None
    outputs: dict[str, tf.Tensor] = dataclasses.field(default_factory=dict)
    host: HostStage | None = None
    scaffold: Any = None
    results: dict[str, Any] = dataclasses.field(default_factory=dict)


class Execution:
    """One replica that sees the whole batch.

    Args:
      strategy: a strategy with one replica.
      config: the RunConfig of the estimator.
    """

    step_is_resource = False  # whether the global step is one even with v2 behavior off
    shards: int | None = None  # for CrossShardOptimizer; none outside of TPU mode
    elements: int | None = None  # elements of the input in a step: see BatchLayout
    has_embedding_tables = False  # in a TPU's embedding engine
    makes_global_step = True  # otherwise the model brings its own
    sees_all = False  # whether each of several replicas sees the whole batch
    step_label = ""  # distinguishes its step from others of its mode
    runs_on: str | None = None  # the name of the device in the log

    def __init__(self, strategy: tf.distribute.Strategy, config: RunConfig):
        self.strategy = strategy
        self.config = config

    @contextlib.contextmanager
    def scope(self, mode: str) -> Iterator[None]:
        """A context that is open while a model is traced in a mode."""
        del mode
        yield

    def plan_input(
        self, input_fn: Callable[..., Any], graph: tf.Graph, mode: str, params: Mapping[str, Any]
    ) -> InputPlan:
        """Calls an input_fn in the default graph, and returns the plan for its result."""
        batch_input = self._call_input_fn(input_fn, graph, mode, params)
        replicas = self.strategy.num_replicas_in_sync
        return InputPlan(
            batch_input,
            BatchLayout(elements=self.elements),
            replicas,
            self._examples(batch_input),
            divides=replicas == 1 and self.elements is None and self.shards is None,
        )

    def _call_input_fn(
        self, input_fn: Callable[..., Any], graph: tf.Graph, mode: str, params: Mapping[str, Any]
    ) -> BatchInput:
        return call_input_fn(input_fn, graph, mode=mode, params=params, config=self.config)

    def for_batch_of(self, size: int) -> Execution:
        """Returns the layout of an evaluation's last batch, if it is smaller than the others."""
        raise AssertionError(f"No batch is short where any size will do, not even {size}.")

    @property
    def fetched_step_counts_last(self) -> bool:
        """Whether a global step that the original fetched with the train op counted that step.

        In TPU mode it was read after the loop, so it did. Elsewhere it did if variables are
        references: on 2.15.1 and 1.15.5 in 1000 of 1000 steps, and with resources in none.
        """
        if self.shards is not None:
            return True
        if self.step_is_resource:
            return False
        return self.elements is None and not tf.compat.v1.resource_variables_enabled()

    def loop_limits(self, mode: str, steps: int | None = None) -> LoopLimits:
        """Returns the bounds on the steps of a call.

        Args:
          mode: one of ModeKeys.
          steps: the number of steps of an evaluation, if hooks are called; else None.
        """
        del steps
        # The end of an input of one batch shows in the same call if that may run a second step.
        return LoopLimits(first=2 if mode == ModeKeys.EVAL else 1)

    def _examples(self, batch_input: BatchInput) -> int | None:
        """Returns the size of a global batch, if known."""
        specs = tf.nest.flatten(batch_input.spec, expand_composites=True)
        # as_list, as a shape's items are Dimensions where v2 behavior is off.
        shapes = [s.shape.as_list() for s in specs if isinstance(s, tf.TensorSpec) and s.shape.rank]
        return shapes[0][0] if shapes else None

    def call_model_fn(
        self,
        model_fn: Callable[..., Any],
        features: Any,
        labels: Any,
        mode: str,
        params: Mapping[str, Any],
    ) -> EstimatorSpec:
        """Calls model_fn in the default graph, only for its spec: nothing is added for a step."""
        spec = call_model_fn(model_fn, features, labels, mode, params, self.config, self.runs_on)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    def trace(
        self, model_fn: Callable[..., Any], batch: TracedBatch, mode: str, params: Mapping[str, Any]
    ) -> TracedModel:
        """Calls model_fn in the default graph."""
        features, labels = batch.features, batch.labels
        spec = call_model_fn(model_fn, features, labels, mode, params, self.config, self.runs_on)
        host_call: list[str] = []
        if isinstance(spec, TPUEstimatorSpec):
            spec, host_call = _with_host_call_in_step(spec.as_estimator_spec())
        if mode == ModeKeys.TRAIN:
            return TracedModel(spec, [reference(spec.train_op), *host_call], spec.loss.name)
        if mode == ModeKeys.EVAL:
            spec = add_loss_metric(spec, spec.loss)
            updates = [update for _, update in spec.eval_metric_ops.values()]
            operations = [reference(u) for u in tf.nest.flatten(updates)] + host_call
            return TracedModel(spec, operations, spec.loss.name)
        outputs = spec.predictions
        if not isinstance(outputs, Mapping):
            outputs = {"": outputs}
        return TracedModel(spec, host_call, None, dict(outputs))


def reference(element: Any) -> str:
    """Returns the reference that runs an operation, or a tensor for its effects."""
    operation = element if isinstance(element, tf.Operation) else element.op
    return "^" + operation.name


def _with_host_call_in_step(spec: EstimatorSpec) -> tuple[EstimatorSpec, list[str]]:
    """Moves a host_call from the hooks, which need one step per call, into the step."""
    operations: list[str] = []
    changes = {}
    for field in ("training_hooks", "evaluation_hooks", "prediction_hooks"):
        hooks = []
        for hook in getattr(spec, field):
            if isinstance(hook, HostCallHook):
                operations = [reference(e) for e in tf.nest.flatten(hook.fetches)]
            is_host_call = isinstance(hook, HostCallHook)
            hooks.append(SummaryWritersHook() if is_host_call else hook)
        changes[field] = tuple(hooks)
    return spec._replace(**changes), operations


def add_loss_metric(spec: EstimatorSpec, loss: tf.Tensor) -> EstimatorSpec:
    """Adds the mean of the loss over the batches to a spec's metrics.

    Raises:
      ValueError: a metric of the model is named 'loss' or 'global_step'.
    """
    for name, quoted in ((LOSS, f'"{LOSS}"'), (_GLOBAL_STEP, f"`{_GLOBAL_STEP}`")):
        if name in spec.eval_metric_ops:
            raise ValueError(
                f"Metric with name {quoted} is not allowed, because Estimator already defines a "
                "default metric with the same name. Rename it in eval_metric_ops."
            )
    return spec._replace(
        eval_metric_ops={**spec.eval_metric_ops, LOSS: tf.compat.v1.metrics.mean(loss)}
    )


def metric_values(spec: EstimatorSpec) -> dict[str, Any]:
    """Returns the tensors to compute after all batches: the metrics and the global step."""
    values = {name: value for name, (value, _) in sorted(spec.eval_metric_ops.items())}
    values[_GLOBAL_STEP] = tf.compat.v1.train.get_global_step()
    return values
