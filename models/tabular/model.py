"""Wide and deep on feature columns, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from models.common.optimizers import OptimizerByScope

__all__ = ["CLASSIFIER", "REGRESSOR", "Columns", "columns_of"]

v1 = tf.compat.v1
_HIDDEN = (32, 16)
_DROPPED = 0.2
_QUANTILES = (0.2, 0.4, 0.6, 0.8)
_WIDE_RATE = 10.0  # of the rate of the deep part

Columns = dict[str, list[Any]]


def columns_of(values: dict[str, np.ndarray]) -> Columns:
    """Returns the feature columns of both parts, scaled by the training set.

    Args:
        values: the training set's columns.

    Returns:
        For `"deep"`: each number, less its mean, over its standard deviation. For `"wide"`: in
        which fifth of the training set it is.
    """
    columns: Columns = {"deep": [], "wide": []}
    for name, column in sorted(values.items()):
        mean, spread = float(column.mean()), float(column.std()) or 1.0
        columns["deep"].append(
            tf.feature_column.numeric_column(name, normalizer_fn=_scale(mean, spread))
        )
        limits = sorted({float(limit) for limit in np.quantile(column, _QUANTILES)})
        columns["wide"].append(
            tf.feature_column.bucketized_column(tf.feature_column.numeric_column(name), limits)
        )
    return columns


def _scale(mean: float, spread: float) -> Any:
    return lambda values: (values - mean) / spread


def inference(features: dict[str, tf.Tensor], params: dict[str, Any], training: bool) -> tf.Tensor:
    """Adds the outputs of a linear model of the wide columns and of a network of the deep ones.

    Args:
        features: a float32 [batch] for each column.
        params: `columns`, and the number of `outputs`.
        training: whether parts of the network are dropped at random.

    Returns:
        float32 [batch, outputs].
    """
    columns, outputs = params["columns"], params["outputs"]
    net = _input(features, columns["deep"])
    with v1.variable_scope("deep"):
        for number, units in enumerate(_HIDDEN):
            net = _dense(net, units, f"hidden{number}", tf.nn.relu)
            net = tf.nn.dropout(net, _DROPPED) if training else net
        deep = _dense(net, outputs, "out")
    with v1.variable_scope("wide"):
        # The columns are dense, as a TPU needs them: a product is the sum of the fifths' weights.
        wide = _dense(_input(features, columns["wide"]), outputs, "out")
    return deep + wide


def _input(features: dict[str, tf.Tensor], columns: Sequence[Any]) -> tf.Tensor:
    return v1.feature_column.input_layer(features, columns)


def _dense(net: tf.Tensor, units: int, name: str, activation: Any = None) -> tf.Tensor:
    return v1.layers.dense(net, units, activation, name=name)


def optimizer(params: dict[str, Any]) -> OptimizerByScope:
    """Makes FTRL for the wide part and Adam for the deep one, as is usual for such models."""
    rate = params["learning_rate"]
    return OptimizerByScope(
        {
            "wide": v1.train.FtrlOptimizer(_WIDE_RATE * rate, l1_regularization_strength=0.001),
            "deep": v1.train.AdamOptimizer(rate),
        }
    )


def _class_loss(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    return v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def _class_metrics(labels: tf.Tensor, outputs: tf.Tensor) -> dict[str, Any]:
    return {"accuracy": v1.metrics.accuracy(labels, tf.argmax(outputs, -1))}


def _class_predictions(outputs: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"class": tf.argmax(outputs, -1), "probabilities": tf.nn.softmax(outputs)}


def _value(outputs: tf.Tensor, params: dict[str, Any]) -> tf.Tensor:
    """Returns the number that is predicted: the output is in standard deviations of the target."""
    return outputs[:, 0] * params["spread"] + params["mean"]


def _number_loss(labels: tf.Tensor, outputs: tf.Tensor, params: dict[str, Any]) -> tf.Tensor:
    scaled = (labels - params["mean"]) / params["spread"]
    return v1.losses.mean_squared_error(scaled, outputs[:, 0])


def _number_metrics(
    labels: tf.Tensor, outputs: tf.Tensor, params: dict[str, Any]
) -> dict[str, Any]:
    predictions = _value(outputs, params)
    return {
        "mean_absolute_error": v1.metrics.mean_absolute_error(labels, predictions),
        "root_mean_squared_error": v1.metrics.root_mean_squared_error(labels, predictions),
    }


def _number_predictions(outputs: tf.Tensor, params: dict[str, Any]) -> dict[str, tf.Tensor]:
    return {"value": _value(outputs, params)}


CLASSIFIER = eb.Model(inference, _class_loss, _class_metrics, _class_predictions, optimizer)
REGRESSOR = eb.Model(inference, _number_loss, _number_metrics, _number_predictions, optimizer)
