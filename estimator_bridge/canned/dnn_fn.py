"""The model_fn of the DNN estimators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.canned.columns import check_features, check_v2
from estimator_bridge.canned.dnn_network import deep_logit_fn, dnn_model
from estimator_bridge.canned.model_parts import DeepPart
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
    deep: DeepPart,
    optimizer: Any,
) -> EstimatorSpec:
    """The model of an estimator of ``tf.compat.v1.estimator``, in the variable scope 'dnn'."""
    v1_optimizer = optimizer_v1(optimizer, _RATE)
    check_features(features)
    scope = tf.compat.v1.variable_scope(
        "dnn", values=tuple(features.values()), partitioner=partitioner(config)
    )
    with scope:
        logit_fn = deep_logit_fn(head.logits_dimension, deep, input_partitioner(config))
        logits = logit_fn(features=features, mode=mode)
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, optimizer=v1_optimizer, logits=logits
        )


def dnn_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    deep: DeepPart,
    optimizer: Any,
) -> EstimatorSpec:
    """The model of ``tf.estimator``'s class."""
    check_features(features)
    check_v2(deep.columns)
    network = dnn_model(features, mode, head.logits_dimension, deep)
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
