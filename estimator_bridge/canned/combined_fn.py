"""The model_fn of the DNNLinearCombined estimators: wide and deep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.columns import check_features, check_v2
from estimator_bridge.canned.dnn_network import deep_logit_fn, dnn_model
from estimator_bridge.canned.linear_network import linear_logit_fn_builder, linear_model
from estimator_bridge.canned.model_parts import DeepPart, LinearPart
from estimator_bridge.canned.optimizers import (
    check_not_synchronizing,
    default_linear_rate,
    loss_of_replica,
    optimizer_v1,
    optimizer_v2,
    updates_v2,
)
from estimator_bridge.canned.partitioners import input_partitioner, partitioner
from estimator_bridge.canned.summaries import summarize_layer, summarize_weights
from estimator_bridge.model import EstimatorSpec, ModeKeys

__all__ = ["combined_fn_v1", "combined_fn_v2", "read_columns"]

_v1 = tf.compat.v1
_DNN_RATE, _LINEAR_RATE = 0.001, 0.005


def read_columns(linear: Any, dnn: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Returns the columns of both parts, read once.

    Raises:
      ValueError: there are none.
    """
    columns = tuple(linear or ()), tuple(dnn or ())
    if not any(columns):
        raise ValueError(
            "Either linear_feature_columns or dnn_feature_columns must be defined: both are empty."
        )
    return columns


def combined_fn_v1(
    features: Any,
    labels: Any,
    mode: str,
    config: Any,
    *,
    head: Any,
    linear: LinearPart,
    linear_optimizer: Any,
    deep: DeepPart,
    dnn_optimizer: Any,
) -> EstimatorSpec:
    """The model of an estimator of ``tf.compat.v1.estimator``: scopes 'dnn' and 'linear'."""
    check_features(features)
    values = tuple(features.values())
    divide_input = linear.partitioner or input_partitioner(config)
    parts: list[tuple[tf.Tensor, Any, str]] = []  # logits, optimizer, scope
    if deep.columns:
        v1_optimizer = _optimizer_v1(dnn_optimizer, _DNN_RATE)
        _check_hidden(deep.hidden_units)
        with _v1.variable_scope("dnn", values=values, partitioner=partitioner(config)) as scope:
            logit_fn = deep_logit_fn(head.logits_dimension, deep, input_partitioner(config))
            parts.append((logit_fn(features=features, mode=mode), v1_optimizer, scope.name))
    if linear.columns:
        v1_optimizer = _optimizer_v1(
            linear_optimizer, default_linear_rate(linear.columns, _LINEAR_RATE)
        )
        with _v1.variable_scope("linear", values=values, partitioner=divide_input) as scope:
            logit_fn = linear_logit_fn_builder(
                head.logits_dimension, linear.columns, linear.sparse_combiner
            )
            logits = logit_fn(features=features)
            summarize_layer(logits, scope.name)
            parts.append((logits, v1_optimizer, scope.name))

    def train_op_fn(loss: tf.Tensor) -> tf.Operation:
        """Updates each part's variables by its own optimizer, in one step."""
        step = _v1.train.get_global_step()
        updates = []
        for _, optimizer, scope in parts:
            part_variables = _v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, scope=scope)
            updates.append(optimizer.minimize(loss, var_list=part_variables))
        with tf.control_dependencies([tf.group(*updates)]):
            return _v1.assign_add(step, 1).op

    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=train_op_fn,
        logits=_total([logits for logits, _, _ in parts]),
    )


def combined_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    linear: LinearPart,
    linear_optimizer: Any,
    deep: DeepPart,
    dnn_optimizer: Any,
    loss_reduction: Any,
) -> EstimatorSpec:
    """The model of ``tf.estimator``'s class."""
    check_features(features)
    check_v2([*linear.columns, *deep.columns])
    training, units = mode == ModeKeys.TRAIN, head.logits_dimension
    parts = []
    updates: list[Any] = []
    if deep.columns:
        keras_optimizer = optimizer_v2(dnn_optimizer, _DNN_RATE) if training else None
        _check_hidden(deep.hidden_units)
        network = dnn_model(features, mode, units, deep)
        updates = network.updates
        parts.append((network.logits, keras_optimizer, network.trainable))
    if linear.columns:
        rate = default_linear_rate(linear.columns, _LINEAR_RATE)
        keras_optimizer = optimizer_v2(linear_optimizer, rate) if training else None
        model = linear_model(
            features, linear.columns, units, linear.sparse_combiner, "linear/linear_model"
        )
        summarize_weights(model.bias, model.all_weights, units)
        summarize_layer(model.logits, "linear")
        parts.append((model.logits, keras_optimizer, model.variables))

    def train_op_fn(loss: tf.Tensor) -> tf.Operation:
        """Uses the global step as the first optimizer's count of steps; the other has its own."""
        loss = loss_of_replica(loss, loss_reduction)
        train_ops = list(updates)
        for number, (_, optimizer, variables) in enumerate(parts):
            train_ops += updates_v2(optimizer, loss, variables, counts=number == 0)
        return tf.group(*train_ops)

    return head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=train_op_fn,
        logits=_total([logits for logits, _, _ in parts]),
    )


def _optimizer_v1(optimizer: Any, rate: float) -> Any:
    instance = optimizer_v1(optimizer, rate)
    check_not_synchronizing(instance)
    return instance


def _check_hidden(hidden_units: Sequence[int]) -> None:
    if not hidden_units:
        raise ValueError(
            "dnn_hidden_units must be defined when dnn_feature_columns is specified, such as "
            f"dnn_hidden_units=[100, 50]; got {hidden_units!r}."
        )


def _total(logits: Sequence[tf.Tensor]) -> tf.Tensor:
    return logits[0] if len(logits) == 1 else logits[0] + logits[1]
