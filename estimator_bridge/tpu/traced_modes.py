"""Converts a model_fn's result to a replica's step and the host's part after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, TPUEstimatorSpec, call_host_fn, describe_fn
from estimator_bridge.model.host_calls import SummaryWritersHook
from estimator_bridge.runtime import HostStage
from estimator_bridge.tpu.estimator_specs import (
    as_tpu_spec,
    check_joined_by_strategy,
    check_metrics_keep_count,
    cut_metrics,
    last_loss_is_sum,
    whole_loss,
)
from estimator_bridge.tpu.host_stage import Gathered, check_loss, check_padded
from estimator_bridge.training.execution import LOSS, TracedModel, add_loss_metric, reference

__all__ = ["Replicas", "trace_evaluation", "trace_prediction", "trace_training"]


@dataclasses.dataclass(frozen=True)
class Replicas:
    """The replicas of a step.

    Attributes:
      count: the number of replicas.
      are_whole: whether each replica sees the global batch.
    """

    count: int
    are_whole: bool

    @property
    def distinct_replicas(self) -> int:
        """The number of replicas with different examples; each example's results count once."""
        return 1 if self.are_whole else self.count


def trace_training(
    model_spec: EstimatorSpec | TPUEstimatorSpec,
    replicas: Replicas,
    joins_by_strategy: bool,
    every_n_steps: int,
) -> TracedModel:
    """Returns the model of a training step.

    Args:
      model_spec: the spec that model_fn returned.
      replicas: the replicas that run the step.
      joins_by_strategy: whether TensorFlow's optimizers sum gradients, as under a strategy.
      every_n_steps: the host runs the host_call once every N steps.
    """
    spec = as_tpu_spec(model_spec)
    check_loss(spec.loss)
    loss = spec.loss
    if isinstance(model_spec, EstimatorSpec) and not replicas.are_whole:
        loss = whole_loss(loss, replicas.count)
    operation = reference(spec.train_op)
    if joins_by_strategy:
        check_joined_by_strategy(operation, replicas.count, replicas.are_whole)
    else:
        _require_cross_shard_optimizer(replicas.count)
    rows = Gathered(replicas.count)
    host, hooks = _host_call(spec, rows)
    whole = EstimatorSpec(
        spec.mode,
        loss=loss,
        train_op=spec.train_op,
        training_hooks=(*spec.training_hooks, *hooks),
        scaffold=spec.scaffold_fn() if spec.scaffold_fn else None,
    )
    stage = HostStage(rows.inputs, tuple(host), every_n_steps=every_n_steps) if host else None
    return TracedModel(whole, [operation], loss.name, host=stage)


def trace_evaluation(
    model_spec: EstimatorSpec | TPUEstimatorSpec, replicas: Replicas
) -> TracedModel:
    """Returns the model of an evaluation step; the host updates the metrics."""
    spec = as_tpu_spec(model_spec)
    check_loss(spec.loss)
    rows = Gathered(replicas.distinct_replicas)
    operations, hooks = _host_call(spec, rows)
    metrics, cut, checks = {}, None, []
    if isinstance(model_spec, EstimatorSpec):
        metrics = model_spec.eval_metric_ops
        check_metrics_keep_count(model_spec, replicas.count)
        cut = cut_metrics(model_spec)
        checks = list(cut.checks)
    elif spec.eval_metrics:
        function, tensors = spec.eval_metrics
        metrics = call_host_fn(function, rows.structure("eval_metrics[1]", tensors))
    losses = rows.tensor("loss", tf.reshape(spec.loss, [1]))
    is_sum = isinstance(model_spec, EstimatorSpec) and last_loss_is_sum()
    whole = EstimatorSpec(
        spec.mode,
        loss=spec.loss,
        eval_metric_ops=metrics,
        evaluation_hooks=(*spec.evaluation_hooks, *hooks),
        scaffold=spec.scaffold_fn() if spec.scaffold_fn else None,
    )
    whole = add_loss_metric(whole, (tf.reduce_sum if is_sum else tf.reduce_mean)(losses))
    own = {LOSS} if cut else whole.eval_metric_ops.keys()
    updates = [whole.eval_metric_ops[name][1] for name in whole.eval_metric_ops if name in own]
    operations += [reference(update) for update in tf.nest.flatten(updates)]
    stage = HostStage(rows.inputs, tuple(operations), replicas.are_whole, counter_cut=cut)
    return TracedModel(whole, checks, None, host=stage)


def trace_prediction(
    model_spec: EstimatorSpec | TPUEstimatorSpec, replicas: Replicas, padded_batch: int | None
) -> TracedModel:
    """Returns the model of a prediction step.

    Args:
      model_spec: the spec that model_fn returned.
      replicas: the replicas that run the step.
      padded_batch: a replica's batch size, if some of its examples may be padding; else None.
    """
    spec = as_tpu_spec(model_spec)
    predictions = spec.predictions
    if isinstance(model_spec, EstimatorSpec) and not isinstance(predictions, Mapping):
        predictions = {"": predictions}
    if not isinstance(predictions, Mapping):
        raise TypeError(
            "TPUEstimatorSpec.predictions must be dict of Tensors, got "
            f"{type(predictions).__name__}. Return {{'predictions': tensor}}."
        )
    rows = Gathered(replicas.distinct_replicas)
    outputs = {
        key: rows.tensor(f"predictions[{key!r}]", tensor) for key, tensor in predictions.items()
    }
    if padded_batch is not None:
        check_padded(predictions, padded_batch)
    operations, hooks = _host_call(spec, rows)
    whole = EstimatorSpec(
        spec.mode,
        predictions=spec.predictions,
        prediction_hooks=(*spec.prediction_hooks, *hooks),
        scaffold=spec.scaffold_fn() if spec.scaffold_fn else None,
    )
    stage = HostStage(rows.inputs, tuple(operations), replicas.are_whole)
    return TracedModel(whole, [], None, outputs, stage)


def _host_call(spec: TPUEstimatorSpec, rows: Gathered) -> tuple[list[str], list]:
    """Returns the host's operations for the host_call, and the hook of its summary writers."""
    if not spec.host_call:
        return [], []
    function, tensors = spec.host_call
    result = call_host_fn(function, rows.structure("host_call[1]", tensors))
    if result is None:
        raise TypeError(
            f"host_call's function ({describe_fn(function)}) returned None, so there is "
            "nothing to run. Return its operations; for summaries, return "
            "tf.compat.v1.summary.all_v2_summary_ops()."
        )
    elements = tf.nest.flatten(result)
    return [reference(element) for element in elements], [SummaryWritersHook()]


def _require_cross_shard_optimizer(replicas: int) -> None:
    operations = tf.compat.v1.get_default_graph().get_operations()
    if replicas > 1 and not any(op.type == "CrossReplicaSum" for op in operations):
        raise ValueError(
            "CrossShardOptimizer must be used for model training on TPUs: the model has no "
            f"sum over its {replicas} replicas, so their weights would drift apart. Wrap "
            "the optimizer: optimizer = estimator_bridge.tpu.CrossShardOptimizer(optimizer)."
        )
