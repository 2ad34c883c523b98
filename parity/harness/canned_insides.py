"""The original's private functions of canned estimators, built from this library's.

Whole test files use these: without them, none of the files' public tests runs.
"""

from __future__ import annotations

from typing import Any

from estimator_bridge.canned.baseline_network import baseline_logits_v1, baseline_model
from estimator_bridge.canned.dnn_network import dnn_model
from estimator_bridge.canned.linear_network import linear_model
from estimator_bridge.canned.model_parts import DeepPart
from estimator_bridge.canned.rnn_network import rnn_model_class
from estimator_bridge.canned.summaries import summarize_weights
from estimator_bridge.legacy.library.canned import (
    dnn_linear_combined_model_fn,
    dnn_linear_combined_model_fn_v2,
    dnn_model_fn,
    dnn_model_fn_v2,
)

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


def dnn_logit_fn_builder_v2(
    units, hidden_units, feature_columns, activation_fn, dropout, batch_norm
):
    """``dnn.dnn_logit_fn_builder_v2``."""
    deep = DeepPart(hidden_units, feature_columns, activation_fn, dropout, batch_norm)
    return lambda features, mode: dnn_model(features, mode, units, deep).logits


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
