"""The original's private functions of canned estimators, built from this library's.

Whole test files use these: without them, none of the files' public tests runs.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.canned.baseline_network import baseline_logits_v1, baseline_model
from estimator_bridge.canned.combined_fn import combined_fn_v1, combined_fn_v2, given_columns
from estimator_bridge.canned.dnn_fn import dnn_fn_v1, dnn_fn_v2
from estimator_bridge.canned.dnn_network import dnn_model
from estimator_bridge.canned.heads import MEAN
from estimator_bridge.canned.linear_network import linear_model
from estimator_bridge.canned.rnn_network import rnn_model_class
from estimator_bridge.canned.summaries import summarize_weights

__all__ = [
    "baseline_logit_fn_builder",
    "baseline_model_fn_builder_v2",
    "dnn_linear_combined_model_fn",
    "dnn_linear_combined_model_fn_v2",
    "dnn_logit_fn_builder_v2",
    "dnn_model_fn",
    "dnn_model_fn_v2",
    "linear_model_fn_builder_v2",
    "rnn_model",
]


def dnn_model_fn(
    features, labels, mode, head, hidden_units, feature_columns, optimizer="Adagrad",
    activation_fn=tf.nn.relu, dropout=None, input_layer_partitioner=None, config=None,
    batch_norm=False,
):  # fmt: skip
    """``dnn._dnn_model_fn``."""
    return dnn_fn_v1(
        features, labels, mode, config, head=head, hidden_units=hidden_units,
        columns=tuple(feature_columns), optimizer=optimizer, activation_fn=activation_fn,
        dropout=dropout, batch_norm=batch_norm, input_layer_partitioner=input_layer_partitioner,
    )  # fmt: skip


def dnn_model_fn_v2(
    features, labels, mode, head, hidden_units, feature_columns, optimizer="Adagrad",
    activation_fn=tf.nn.relu, dropout=None, config=None, batch_norm=False,
):  # fmt: skip
    """``dnn.dnn_model_fn_v2``."""
    del config
    return dnn_fn_v2(
        features, labels, mode, head=head, hidden_units=hidden_units,
        columns=tuple(feature_columns), optimizer=optimizer, activation_fn=activation_fn,
        dropout=dropout, batch_norm=batch_norm,
    )  # fmt: skip


def dnn_logit_fn_builder_v2(
    units, hidden_units, feature_columns, activation_fn, dropout, batch_norm
):
    """``dnn.dnn_logit_fn_builder_v2``."""
    dnn_model_arguments = (units, hidden_units, feature_columns, activation_fn, dropout, batch_norm)
    return lambda features, mode: dnn_model(features, mode, *dnn_model_arguments).logits


def dnn_linear_combined_model_fn(
    features, labels, mode, head, linear_feature_columns=None, linear_optimizer="Ftrl",
    dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None,
    dnn_activation_fn=tf.nn.relu, dnn_dropout=None, input_layer_partitioner=None, config=None,
    batch_norm=False, linear_sparse_combiner="sum",
):  # fmt: skip
    """``dnn_linear_combined._dnn_linear_combined_model_fn``."""
    linear, dnn = given_columns(linear_feature_columns, dnn_feature_columns)
    return combined_fn_v1(
        features, labels, mode, config, head=head, linear_columns=linear,
        linear_optimizer=linear_optimizer, dnn_columns=dnn, dnn_optimizer=dnn_optimizer,
        hidden_units=dnn_hidden_units, activation_fn=dnn_activation_fn, dropout=dnn_dropout,
        batch_norm=batch_norm, sparse_combiner=linear_sparse_combiner,
        input_layer_partitioner=input_layer_partitioner,
    )  # fmt: skip


def dnn_linear_combined_model_fn_v2(
    features, labels, mode, head, linear_feature_columns=None, linear_optimizer="Ftrl",
    dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None,
    dnn_activation_fn=tf.nn.relu, dnn_dropout=None, config=None, batch_norm=False,
    linear_sparse_combiner="sum", loss_reduction=MEAN,
):  # fmt: skip
    """``dnn_linear_combined._dnn_linear_combined_model_fn_v2``."""
    del config
    linear, dnn = given_columns(linear_feature_columns, dnn_feature_columns)
    return combined_fn_v2(
        features, labels, mode, head=head, linear_columns=linear,
        linear_optimizer=linear_optimizer, dnn_columns=dnn, dnn_optimizer=dnn_optimizer,
        hidden_units=dnn_hidden_units, activation_fn=dnn_activation_fn, dropout=dnn_dropout,
        batch_norm=batch_norm, sparse_combiner=linear_sparse_combiner,
        loss_reduction=loss_reduction,
    )  # fmt: skip


def linear_model_fn_builder_v2(units, feature_columns, sparse_combiner="sum", features=None):
    """``linear._linear_model_fn_builder_v2``."""
    model = linear_model(features, feature_columns, units, sparse_combiner, "linear/linear_model")
    summarize_weights(model.bias, model.all_weights, units)
    return model.logits, model.variables


def baseline_logit_fn_builder(num_outputs: int, weight_column: Any = None):
    """``baseline._baseline_logit_fn_builder``."""
    return lambda features: baseline_logits_v1(features, num_outputs, weight_column)


def baseline_model_fn_builder_v2(features, num_outputs: int, weight_column: Any = None):
    """``baseline._baseline_model_fn_builder_v2``."""
    logits, bias = baseline_model(features, num_outputs, weight_column)
    return [bias], logits


def rnn_model(*args, **kwargs):
    """``rnn.RNNModel``."""
    return rnn_model_class()(*args, **kwargs)
