"""Confusion counts at thresholds, and values computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.metrics.state import Metric

__all__ = ["EPSILON", "at_thresholds"]

_v1 = tf.compat.v1
EPSILON = 1e-7  # added to denominators
_COUNTS = {
    "tp": _v1.metrics.true_positives_at_thresholds,
    "fp": _v1.metrics.false_positives_at_thresholds,
    "fn": _v1.metrics.false_negatives_at_thresholds,
    "tn": _v1.metrics.true_negatives_at_thresholds,
}


def at_thresholds(
    names: Sequence[str],
    compute: Callable[..., Any],
    labels: Any,
    predictions: Any,
    weights: Any,
    thresholds: Sequence[float],
) -> Metric:
    """Applies a function to counts [thresholds], such as true positives, for value and update."""
    pairs = [_COUNTS[name](labels, predictions, thresholds, weights) for name in names]
    values, updates = zip(*pairs)
    return compute(*values), compute(*updates)
