"""Confusion counts at thresholds, and values computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import confusion_matrix_at_thresholds
from estimator_bridge_contrib.metrics.state import Metric

__all__ = ["EPSILON", "at_thresholds", "counts_at_thresholds", "with_names"]

EPSILON = 1e-7  # added to denominators


def at_thresholds(
    names: Sequence[str],
    compute: Callable[..., Any],
    labels: Any,
    predictions: Any,
    weights: Any,
    thresholds: Sequence[float],
    variable_names: Sequence[str] = (),
    named: tuple[str, str] | None = None,
) -> Metric:
    """Applies a function to counts [thresholds], such as true positives, for value and update.

    Args:
      names: the counts to give to the function, of "tp", "fp", "fn" and "tn".
      compute: the function.
      labels: the labels.
      predictions: the predictions.
      weights: the weights, or None.
      thresholds: the thresholds.
      variable_names: the counts that have variables, if they are more than the function needs.
      named: the names of both results.

    Returns:
      The value, and the operation that adds a batch to it.
    """
    values, updates = counts_at_thresholds(
        tuple(variable_names or names), labels, predictions, weights, thresholds
    )
    value, update = (compute(*(counts[name] for name in names)) for counts in (values, updates))
    return with_names(value, update, *named) if named else (value, update)


def counts_at_thresholds(
    names: Sequence[str], labels: Any, predictions: Any, weights: Any, thresholds: Sequence[float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns counts [thresholds] by name, and their updates.

    Args:
      names: of "tp", "fp", "fn" and "tn"; each has a variable in the current scope.
      labels: cast to bool.
      predictions: floats from 0 to 1.
      weights: the weights, or None.
      thresholds: the thresholds.
    """
    labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
    return confusion_matrix_at_thresholds(
        labels, predictions, thresholds, weights, includes=tuple(names)
    )


def with_names(value: Any, update: Any, value_name: str, update_name: str) -> Metric:
    """Returns both results under names, by which programs find them in a graph."""
    return tf.identity(value, value_name), tf.identity(update, update_name)
