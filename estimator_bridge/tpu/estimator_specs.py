"""EstimatorSpecs on several cores, from a head or from a model_fn written for Estimator."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Resources, Snapshot, StateCut, cut_before_state, needs_batch
from estimator_bridge.model import EstimatorSpec, ModeKeys, TPUEstimatorSpec
from estimator_bridge.model.cross_shard import cross_replica_sum
from estimator_bridge.tensorflow_private.graphs import last_loss_reduction
from estimator_bridge.training.distribution.divergence_check import check_no_divergence
from estimator_bridge.training.execution import reference

__all__ = [
    "as_tpu_spec",
    "check_joined_by_strategy",
    "check_metrics_keep_count",
    "cut_metrics",
    "last_loss_is_sum",
    "whole_loss",
]

_SUMS = ("sum", tf.compat.v1.losses.Reduction.SUM)


def as_tpu_spec(spec: EstimatorSpec | TPUEstimatorSpec) -> TPUEstimatorSpec:
    """Returns the spec, or a TPUEstimatorSpec with the same fields except for the metrics.

    Raises:
      ValueError: the spec has training_chief_hooks.
    """
    if isinstance(spec, TPUEstimatorSpec):
        return spec
    if spec.training_chief_hooks:
        raise ValueError(
            "training_chief_hooks returned by EstimatorSpec is not supported in "
            "TPUEstimator. Put them into training_hooks."
        )
    return TPUEstimatorSpec(
        spec.mode,
        predictions=spec.predictions if spec.mode == ModeKeys.PREDICT else None,
        loss=spec.loss,
        train_op=spec.train_op,
        export_outputs=spec.export_outputs if spec.mode == ModeKeys.PREDICT else None,
        scaffold_fn=functools.partial(_same, spec.scaffold) if spec.scaffold else None,
        training_hooks=spec.training_hooks,
        evaluation_hooks=spec.evaluation_hooks,
        prediction_hooks=spec.prediction_hooks,
    )


def last_loss_is_sum() -> bool:
    """Returns whether the graph's loss is a sum over the batch, as TensorFlow's losses record it.

    TensorFlow's optimizers use the same record under a strategy. A loss that the program reduced
    itself counts as a mean.
    """
    return last_loss_reduction(tf.compat.v1.get_default_graph()) in _SUMS


def whole_loss(loss: tf.Tensor, replicas: int) -> tf.Tensor:
    """Returns the reported loss of the global batch, given a sum on each replica."""
    if replicas > 1 and last_loss_is_sum():
        return cross_replica_sum(loss, name="loss_of_all_replicas")
    return loss


def cut_metrics(spec: EstimatorSpec) -> StateCut:
    """Returns the part of a spec's metrics that the host computes for each replica in turn."""
    updates = tf.nest.flatten([update for _, update in spec.eval_metric_ops.values()])
    operations = list(dict.fromkeys(reference(update) for update in updates))
    return cut_before_state(spec.loss.graph, operations, [spec.loss.name])


def check_metrics_keep_count(spec: EstimatorSpec, replicas: int) -> None:
    """Checks that the metrics' values depend on their variables, not on one more batch.

    Raises:
      NotImplementedError: a value is computed from a batch. The host reads the replicas' parts of
        a batch in turn, never the global batch.
    """
    if replicas == 1:
        return
    graph = spec.loss.graph
    owners = Resources.owners_in(graph)
    for name, (value, _) in spec.eval_metric_ops.items():
        values = tf.nest.flatten(value)
        if needs_batch(graph, [reference(tensor) for tensor in values], owners):
            raise NotImplementedError(
                f"eval_metric_ops[{name!r}] is computed from one batch ({values[0].name}), not "
                f"from a metric's variables, and each of the {replicas} replicas has only a part "
                "of the batch. Return (value, update_op) of a streaming metric, such as "
                "tf.compat.v1.metrics.mean(values_of_examples). Or return a TPUEstimatorSpec with "
                "eval_metrics=(metric_fn, tensors): metric_fn receives the whole batch."
            )


def check_joined_by_strategy(operation: str, replicas: int, is_whole: bool) -> None:
    """Checks a training step whose optimizer must sum the replicas' gradients itself.

    Args:
      operation: the step's operation, '^name'.
      replicas: the number of replicas.
      is_whole: whether each replica receives the global batch.

    Raises:
      ValueError: the step would let the weights of the replicas diverge, or count each example
        several times.
      NotImplementedError: the step sums nothing over the replicas.
    """
    graph = tf.compat.v1.get_default_graph()
    if replicas == 1:
        return
    if is_whole and last_loss_is_sum():
        raise ValueError(
            "The loss is a sum over the batch, and BROADCAST gives each of the "
            f"{replicas} replicas the whole batch, so gradients would be {replicas} times too "
            "large. Give the loss a mean reduction, or leave out per_host_input_for_training."
        )
    check_no_divergence(graph, [operation], replicas, "this TPUEstimator")
    if not any(node.op == "CrossReplicaSum" for node in Snapshot.of(graph).nodes.values()):
        raise NotImplementedError(
            "This estimator cannot train on several cores: its training step sums nothing over "
            f"the {replicas} replicas. It does not use TensorFlow's or Keras' optimizers; "
            "KMeansClustering and LinearSDCA do not either. Train the estimator itself, which "
            "runs on one device."
        )


def _same(scaffold: Any) -> Any:
    return scaffold
