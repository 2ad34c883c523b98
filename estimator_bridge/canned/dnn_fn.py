"""The model_fn of the DNN estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.columns import check_features, check_v2
from estimator_bridge.canned.dnn_network import dnn_logit_fn_builder, dnn_model
from estimator_bridge.canned.optimizers import counting_by_global_step, optimizer_v1, optimizer_v2
from estimator_bridge.canned.partitioners import input_partitioner, partitioner
from estimator_bridge.model import EstimatorSpec, ModeKeys

__all__ = ["dnn_fn_v1", "dnn_fn_v2"]

_RATE = 0.05


def dnn_fn_v1(
    features: Any,
    labels: Any,
    mode: str,
    config: Any,
    *,
    head: Any,
    hidden_units: Sequence[int],
    columns: Sequence[Any],
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    batch_norm: bool,
    input_layer_partitioner: Any,
) -> EstimatorSpec:
    """The model of an estimator of ``tf.compat.v1.estimator``, in the variable scope 'dnn'."""
    made = optimizer_v1(optimizer, _RATE)
    check_features(features)
    scope = tf.compat.v1.variable_scope(
        "dnn", values=tuple(features.values()), partitioner=partitioner(config)
    )
    with scope:
        logit_fn = dnn_logit_fn_builder(
            head.logits_dimension,
            hidden_units,
            columns,
            activation_fn,
            dropout,
            input_layer_partitioner or input_partitioner(config),
            batch_norm,
        )
        logits = logit_fn(features=features, mode=mode)
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, optimizer=made, logits=logits
        )


def dnn_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    hidden_units: Sequence[int],
    columns: Sequence[Any],
    optimizer: Any,
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    batch_norm: bool,
) -> EstimatorSpec:
    """The model of ``tf.estimator``'s class."""
    check_features(features)
    check_v2(columns)
    network = dnn_model(
        features, mode, head.logits_dimension, hidden_units, columns, activation_fn, dropout,
        batch_norm,
    )  # fmt: skip
    if mode == ModeKeys.TRAIN:
        optimizer = counting_by_global_step(optimizer_v2(optimizer))
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        logits=network.logits,
        trainable_variables=network.trainable,
        update_ops=network.updates,
    )
