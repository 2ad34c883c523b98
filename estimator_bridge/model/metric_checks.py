"""Normalizes `eval_metric_ops` to a value and an update for each name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model.spec_checks import check_graph

__all__ = ["check_eval_metric_ops"]


class _NoTensorError(TypeError, AttributeError):
    """A metric is a number or None, not a tensor; the original raised AttributeError."""


def check_eval_metric_ops(eval_metric_ops: Any) -> dict[str, tuple[Any, Any]]:
    """Returns the metrics as (value, update) pairs.

    Args:
      eval_metric_ops: metrics by name, each a pair as ``tf.compat.v1.metrics`` returns it, whose
        parts may be nested, or a tf_keras Metric whose ``update_state`` has been called. A value
        may be a serialized Summary.

    Returns:
      The pairs by name; {} for None. A Keras metric's variables are added to the collections of
      local and metric variables, which are reset before each evaluation.

    Raises:
      TypeError: it is not a dict, or a value is not a metric.
      ValueError: a Keras metric has no update, or a part is from another graph.
    """
    if eval_metric_ops is None:
        return {}
    if not isinstance(eval_metric_ops, Mapping):
        raise TypeError(f"eval_metric_ops must be a dict, given: {eval_metric_ops!r}")
    pairs = {}
    for name, metric in eval_metric_ops.items():
        pair = _keras_pair(name, metric) if _is_keras_metric(metric) else metric
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{metric!r} for key: {name}. tf.compat.v1.metrics.mean(tensor) makes a metric "
                "from a tensor."
            )
        for part in tf.nest.flatten(pair):
            if not isinstance(part, (tf.Tensor, tf.Variable, tf.Operation)):
                raise _NoTensorError(
                    f"Values of eval_metric_ops must be tensors and operations, given: {part!r} "
                    f"for key: {name}. tf.compat.v1.metrics.mean(x) makes a metric of x."
                )
            check_graph("eval_metric_ops", part, f"{name}: {getattr(part, 'name', part)}")
        pairs[name] = pair
    return pairs


def _is_keras_metric(value: Any) -> bool:
    # Only a loaded module's classes can have instances, so load nothing.
    for module in ("tf_keras", "keras"):
        metrics = getattr(sys.modules.get(module), "metrics", None)
        if metrics is not None and isinstance(value, metrics.Metric):
            if not hasattr(value, "updates"):
                raise TypeError(
                    f"{value!r} is a Keras 3 metric, which cannot live in a graph. Use "
                    f"tf_keras.metrics.{type(value).__name__}, or set TF_USE_LEGACY_KERAS=1 "
                    "before TensorFlow is imported."
                )
            return True
    return False


def _keras_pair(name: str, metric: Any) -> tuple[tf.Tensor, tf.Operation]:
    updates = list(metric.updates)
    if not updates:
        raise ValueError(
            f'Please call update_state(...) on the "{metric.name}" metric (eval_metric_ops key '
            f"{name!r}) in model_fn, before the spec is made."
        )
    for update in updates:
        check_graph("eval_metric_ops", update, f"{name}: {update.name}")
    for collection in (
        tf.compat.v1.GraphKeys.LOCAL_VARIABLES,
        tf.compat.v1.GraphKeys.METRIC_VARIABLES,
    ):
        members = {id(variable) for variable in tf.compat.v1.get_collection(collection)}
        for variable in metric.variables:
            if id(variable) not in members:
                tf.compat.v1.add_to_collection(collection, variable)
    return metric.result(), updates[0] if len(updates) == 1 else tf.group(*updates)
