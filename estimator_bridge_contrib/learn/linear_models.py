"""Linear and logistic regression: predictions and a loss, for a model_fn."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "linear_regression",
    "linear_regression_zero_init",
    "logistic_regression",
    "logistic_regression_zero_init",
]

_v1 = tf.compat.v1
_CLASS_WEIGHT = "class_weight:0"


def linear_regression(
    x: Any, y: Any, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Builds a linear model with the mean squared error.

    Args:
      x: features [batch, n].
      y: numbers, [batch] or [batch, labels].
      init_mean: the mean of normal initial weights; None for uniform unit scaling.
      init_stddev: their standard deviation.

    Returns:
      The predictions, in the shape of y, and the loss.
    """
    with _v1.variable_scope("linear_regression"):
        is_vector = y.shape.rank == 1
        weights = _weights(x, y, 1 if is_vector else y.shape[1], init_mean, init_stddev)
        with _v1.name_scope("mean_squared_error_regressor"):
            outputs = _v1.nn.xw_plus_b(x, *weights)
            predictions = tf.squeeze(outputs, axis=[1]) if is_vector else outputs
            return predictions, _v1.losses.mean_squared_error(y, predictions)


def linear_regression_zero_init(x: Any, y: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Builds a linear model whose weights start at 0; see `linear_regression`."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression(
    x: Any,
    y: Any,
    class_weight: Any = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Builds a linear model with softmax cross entropy.

    Args:
      x: features [batch, n].
      y: one-hot classes [batch, n_classes].
      class_weight: a factor of the logits of each class, [n_classes]; by default the graph's tensor
        "class_weight:0", if there is one.
      init_mean: the mean of normal initial weights; None for uniform unit scaling.
      init_stddev: their standard deviation.

    Returns:
      The probabilities [batch, n_classes], and the loss.
    """
    with _v1.variable_scope("logistic_regression"):
        weights = _weights(x, y, y.shape[-1], init_mean, init_stddev)
        if class_weight is None:
            class_weight = _find_tensor(_CLASS_WEIGHT)
        with _v1.name_scope("softmax_classifier"):
            logits = _v1.nn.xw_plus_b(x, *weights)
            if class_weight is not None:
                logits = tf.multiply(logits, class_weight)
            return tf.nn.softmax(logits), _v1.losses.softmax_cross_entropy(y, logits)


def logistic_regression_zero_init(x: Any, y: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Builds a logistic model whose weights start at 0; see `logistic_regression`."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _weights(
    x: Any, y: Any, outputs: Any, mean: float | None, stddev: float
) -> tuple[tf.Variable, tf.Variable]:
    """Makes the weights and the bias, and writes summaries of them and of the batch."""
    scope = _v1.get_variable_scope().name
    options = {"dtype": x.dtype.base_dtype}
    if mean is not None:
        options["initializer"] = _v1.random_normal_initializer(mean, stddev, dtype=options["dtype"])
    _v1.summary.histogram(f"{scope}.x", x)
    _v1.summary.histogram(f"{scope}.y", y)
    weights = _v1.get_variable("weights", [x.shape[1], outputs], **options)
    bias = _v1.get_variable("bias", [outputs], **options)
    _v1.summary.histogram(f"{scope}.weights", weights)
    _v1.summary.histogram(f"{scope}.bias", bias)
    return weights, bias


def _find_tensor(name: str) -> tf.Tensor | None:
    try:
        return _v1.get_default_graph().get_tensor_by_name(name)
    except KeyError:
        return None
