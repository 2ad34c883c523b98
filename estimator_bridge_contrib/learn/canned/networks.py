"""The networks of tf.contrib.learn's canned estimators: from features to logits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.layers.column_bases import is_contrib_column
from estimator_bridge_contrib.layers.column_types import Embedding
from estimator_bridge_contrib.learn.configuration import ModeKeys

__all__ = [
    "DNN_SCOPE",
    "LINEAR_SCOPE",
    "DnnOptions",
    "dnn_logits",
    "embedding_multipliers",
    "linear_logits",
    "optimizer_of",
]

_v1 = tf.compat.v1
DNN_SCOPE, LINEAR_SCOPE = "dnn", "linear"


class DnnOptions(NamedTuple):
    """The shape of a deep network.

    Attributes:
      columns: feature columns.
      hidden_units: the sizes of the hidden layers.
      activation_fn: their activation function.
      dropout: the share of outputs to drop in training, or None.
    """

    columns: Sequence[Any]
    hidden_units: Sequence[int]
    activation_fn: Any
    dropout: float | None


def dnn_logits(
    features: dict[str, Any],
    mode: str,
    options: DnnOptions,
    units: int,
    input_partitioner: Any,
    separator: str,
) -> tuple[tf.Tensor, str]:
    """Builds a deep network in the current variable scope.

    Args:
      features: the batch's features by name.
      mode: one of ModeKeys.
      options: the shape of the network.
      units: the number of logits.
      input_partitioner: the partitioner of the input layer's variables.
      separator: what the tags of summaries have between a layer's name and the rest.

    Returns:
      The logits [batch, units], and the name of the input layer's variable scope.
    """
    collections = [DNN_SCOPE]
    with _v1.variable_scope(
        "input_from_feature_columns", partitioner=input_partitioner
    ) as input_scope:
        if all(map(is_contrib_column, options.columns)):
            net = layers.input_from_feature_columns(
                features, options.columns, collections, scope=input_scope
            )
        else:
            net = _v1.feature_column.input_layer(
                features, options.columns, weight_collections=collections
            )
    for number, size in enumerate(options.hidden_units):
        with _v1.variable_scope(f"hiddenlayer_{number}") as scope:
            net = layers.fully_connected(
                net,
                size,
                activation_fn=options.activation_fn,
                variables_collections=collections,
                scope=scope,
            )
            if options.dropout is not None and mode == ModeKeys.TRAIN:
                net = layers.dropout(net, keep_prob=1.0 - options.dropout)
        _summarize(net, scope.name + separator)
    with _v1.variable_scope("logits") as scope:
        logits = layers.fully_connected(
            net, units, activation_fn=None, variables_collections=collections, scope=scope
        )
    _summarize(logits, scope.name + separator)
    return logits, input_scope.name


def linear_logits(
    features: dict[str, Any],
    columns: Iterable[Any],
    units: int,
    is_joint: bool,
    scope: Any,
    is_summarized: bool = False,
) -> tf.Tensor:
    """Builds a linear model.

    Args:
      features: the batch's features by name.
      columns: feature columns.
      units: the number of logits.
      is_joint: whether all weights are in one variable.
      scope: the current variable scope, which has its variables.
      is_summarized: whether to write summaries of the logits.

    Returns:
      The logits [batch, units].
    """
    collections, columns = [LINEAR_SCOPE], list(columns)
    if all(map(is_contrib_column, columns)):
        build = (
            layers.joint_weighted_sum_from_feature_columns
            if is_joint
            else layers.weighted_sum_from_feature_columns
        )
        logits, _, _ = build(features, columns, units, weight_collections=collections, scope=scope)
    else:
        logits = _v1.feature_column.linear_model(
            features, columns, units=units, weight_collections=collections
        )
    if is_summarized:
        _summarize(logits, f"{scope.name}/")
    return logits


def embedding_multipliers(
    multipliers: Mapping[Any, float] | None, input_scope: str
) -> dict[Any, float] | None:
    """Returns factors of gradients by variable, from factors by embedding column.

    Raises:
      ValueError: a column is no embedding, or has no variable.
    """
    if not multipliers:
        return None
    factors = {}
    for column, factor in multipliers.items():
        if not isinstance(column, Embedding):
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. It is defined "
                f"for {column}"
            )
        tables = _v1.get_collection(DNN_SCOPE, f"{input_scope}/{column.name}")
        if not tables:
            raise ValueError(
                f"Couldn't find a variable for column {column}. Is it among the feature columns?"
            )
        factors.update(dict.fromkeys(tables, factor))
    return factors


def optimizer_of(optimizer: Any) -> Any:
    """Returns an optimizer, or what else optimize_loss takes; a function is called."""
    return optimizer() if callable(optimizer) else optimizer


def _summarize(values: tf.Tensor, tag: str) -> None:
    _v1.summary.scalar(f"{tag}fraction_of_zero_values", tf.math.zero_fraction(values))
    _v1.summary.histogram(f"{tag}activation", values)
