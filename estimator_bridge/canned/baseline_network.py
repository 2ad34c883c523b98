"""The logits of a model that ignores the features: a bias for each output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

__all__ = ["baseline_logits_v1", "baseline_model"]

_v1 = tf.compat.v1


def baseline_logits_v1(features: Mapping[str, Any], units: int, weight_column: Any) -> tf.Tensor:
    """Builds the bias of an estimator of ``tf.compat.v1.estimator``.

    Args:
      features: the features by key; only their number of rows is used.
      units: the number of logits.
      weight_column: the feature key or numeric column of the example weights, which may have a
        different number of rows.

    Returns:
      Logits of shape ``[batch, units]``.
    """
    checks, rows = _rows(features, weight_column)
    with tf.control_dependencies(checks), _v1.variable_scope("baseline"):
        bias = _v1.get_variable("bias", [units], initializer=_v1.zeros_initializer())
        return tf.multiply(bias, tf.ones([rows, units]))


def baseline_model(
    features: Mapping[str, Any], units: int, weight_column: Any
) -> tuple[tf.Tensor, tf.Variable]:
    """Builds the bias of an estimator of ``tf.estimator``; see ``baseline_logits_v1``.

    Returns:
      Logits of shape ``[batch, units]``, and the variable.
    """
    checks, rows = _rows(features, weight_column)
    with tf.name_scope("baseline"):
        bias = tf.Variable(tf.zeros([units]), name="bias")
        with tf.control_dependencies(checks):
            return tf.multiply(bias, tf.ones([rows, units])), bias


def _rows(features: Mapping[str, Any], weight_column: Any) -> tuple[list[Any], tf.Tensor]:
    """Checks that all features have the same number of rows, and returns it."""
    weights = _key(weight_column)
    counts = [_v1.shape(value)[0] for key, value in features.items() if key != weights]
    if not counts:
        raise ValueError(
            "A Baseline model predicts one result per row of features, and there are none "
            f"except the weights {weights!r}: {sorted(features)}. Return a feature from input_fn."
        )
    return [_v1.assert_equal(counts[0], count) for count in counts[1:]], counts[0]


def _key(weight_column: Any) -> str | None:
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    key = getattr(weight_column, "key", None)
    if not isinstance(key, str):
        raise TypeError(
            "Weight column must be either a string or NumericColumn. Given type: "
            f"{type(weight_column)}: {weight_column!r}."
        )
    return key
