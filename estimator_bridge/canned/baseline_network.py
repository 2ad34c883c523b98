"""The logits of a model that knows no features: a bias for each output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

__all__ = ["baseline_logits_v1", "baseline_model"]

_v1 = tf.compat.v1


def baseline_logits_v1(features: Mapping[str, Any], units: int, weight_column: Any) -> tf.Tensor:
    """Builds the bias of an estimator of ``tf.compat.v1.estimator``.

    Args:
      features: by key, of which only the number of rows is used.
      units: how many logits.
      weight_column: the key or numeric column of the examples' weights, which may have other rows.

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
    """Checks that features have equally many rows, and how many."""
    weights = _key(weight_column)
    counts = [_v1.shape(value)[0] for key, value in features.items() if key != weights]
    if not counts:
        raise ValueError(
            "A Baseline model predicts one result a row of features, and there are none but the "
            f"weights {weights!r}: {sorted(features)}. Return a feature from input_fn."
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
