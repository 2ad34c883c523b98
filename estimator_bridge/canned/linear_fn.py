"""The model_fn of the Linear estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.columns import check_features, check_v2
from estimator_bridge.canned.linear_network import linear_logit_fn_builder, linear_model
from estimator_bridge.canned.model_parts import LinearPart
from estimator_bridge.canned.optimizers import (
    counting_by_global_step,
    default_linear_rate,
    optimizer_v1,
    optimizer_v2,
)
from estimator_bridge.canned.partitioners import input_partitioner
from estimator_bridge.canned.sdca import LinearSDCA, check_sdca
from estimator_bridge.canned.sdca_fn import sdca_train_op
from estimator_bridge.canned.summaries import summarize_weights
from estimator_bridge.model import EstimatorSpec, ModeKeys

__all__ = ["linear_fn_v1", "linear_fn_v2"]

_RATE = 0.2


def linear_fn_v1(
    features: Any,
    labels: Any,
    mode: str,
    config: Any,
    *,
    head: Any,
    linear: LinearPart,
    optimizer: Any,
) -> EstimatorSpec:
    """The model of an estimator of ``tf.compat.v1.estimator``, in the variable scope 'linear'."""
    check_features(features)
    scope = tf.compat.v1.variable_scope(
        "linear",
        values=tuple(features.values()),
        partitioner=linear.partitioner or input_partitioner(config),
    )
    with scope:
        if isinstance(optimizer, LinearSDCA):
            return _sdca_spec(features, labels, mode, head, linear, optimizer)
        logit_fn = linear_logit_fn_builder(
            head.logits_dimension, linear.columns, linear.sparse_combiner
        )
        logits = logit_fn(features=features)
        v1_optimizer = optimizer_v1(optimizer or "Ftrl", _rate(linear.columns, optimizer))
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, optimizer=v1_optimizer, logits=logits
        )


def linear_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    linear: LinearPart,
    optimizer: Any,
) -> EstimatorSpec:
    """The model of ``tf.estimator``'s class."""
    check_features(features)
    check_v2(linear.columns)
    name = "linear/linear_model"
    if isinstance(optimizer, LinearSDCA):
        return _sdca_spec(features, labels, mode, head, linear, optimizer, name)
    model = linear_model(
        features, linear.columns, head.logits_dimension, linear.sparse_combiner, name
    )
    summarize_weights(model.bias, model.all_weights, head.logits_dimension)
    if mode == ModeKeys.TRAIN:
        keras_optimizer = optimizer_v2(optimizer or "Ftrl", _rate(linear.columns, optimizer))
        optimizer = counting_by_global_step(keras_optimizer)
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        optimizer=optimizer,
        trainable_variables=model.variables,
        logits=model.logits,
    )


def _rate(columns: Sequence[Any], optimizer: Any) -> float:
    """Returns the rate of a given optimizer; the default's falls with the number of columns."""
    return _RATE if optimizer else default_linear_rate(columns, _RATE)


def _sdca_spec(
    features: dict[str, Any],
    labels: Any,
    mode: str,
    head: Any,
    linear: LinearPart,
    optimizer: LinearSDCA,
    name: str = "linear_model",
) -> EstimatorSpec:
    check_sdca(optimizer, linear.columns, linear.sparse_combiner)
    model = linear_model(features, linear.columns, head.logits_dimension, "sum", name)
    summarize_weights(model.bias, model.all_weights, head.logits_dimension)
    train_op = None
    if mode == ModeKeys.TRAIN:
        train_op = sdca_train_op(optimizer, head, linear.columns, features, labels, model)
    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        logits=model.logits,
        train_op_fn=lambda loss: train_op,
    )
