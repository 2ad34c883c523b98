"""The model_fn of the Baseline estimators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.canned.baseline_network import baseline_logits_v1, baseline_model
from estimator_bridge.canned.optimizers import (
    loss_of_replica,
    optimizer_v1,
    optimizer_v2,
    updates_v2,
)
from estimator_bridge.model import EstimatorSpec

__all__ = ["baseline_fn_v1", "baseline_fn_v2"]

_RATE = 0.3


def baseline_fn_v1(
    features: Any, labels: Any, mode: str, *, head: Any, optimizer: Any, weight_column: Any
) -> EstimatorSpec:
    """The model of ``tf.compat.v1.estimator``'s class."""

    def train_op_fn(loss: tf.Tensor) -> tf.Operation:
        v1_optimizer = optimizer_v1(optimizer, _RATE)
        return v1_optimizer.minimize(loss, tf.compat.v1.train.get_global_step())

    return head.create_estimator_spec(
        features=features,
        mode=mode,
        logits=baseline_logits_v1(features, head.logits_dimension, weight_column),
        labels=labels,
        train_op_fn=train_op_fn,
    )


def baseline_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    optimizer: Any,
    weight_column: Any,
    loss_reduction: Any,
) -> EstimatorSpec:
    """The model of ``tf.estimator``'s class."""
    logits, bias = baseline_model(features, head.logits_dimension, weight_column)

    def train_op_fn(loss: tf.Tensor) -> Any:
        keras_optimizer = optimizer_v2(optimizer, _RATE)
        (update,) = updates_v2(
            keras_optimizer, loss_of_replica(loss, loss_reduction), [bias], counts=True
        )
        return update

    return head.create_estimator_spec(
        features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
    )
