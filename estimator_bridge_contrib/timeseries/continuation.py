"""The input function of predictions that follow an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import nest
from estimator_bridge_contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
)
from estimator_bridge_contrib.timeseries.model_utils import (
    canonicalize_times_or_steps_from_output,
)

__all__ = ["predict_continuation_input_fn"]


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], Any]:
    """Makes an input function for ``predict()`` after ``evaluate()``.

    Each window of the evaluation's last batch is continued.

    Args:
      evaluation: what ``evaluate()`` returned.
      steps: how many times to predict, right after the evaluation.
      times: the times to predict instead, [batch, window] or [window], after the evaluation's.
      exogenous_features: arrays by name, [batch, window, ...].

    Returns:
      A function without arguments, which gives one batch.

    Raises:
      ValueError: not exactly one of steps and times is given, or the times do not fit.
    """
    features: dict[str, Any] = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: canonicalize_times_or_steps_from_output(
            times=times, steps=steps, previous_model_output=evaluation
        ),
    }
    features.update(exogenous_features or {})

    def input_fn() -> tuple[dict[str, Any], None]:
        once = {name: nest.map_structure(_once, value) for name, value in features.items()}
        return once, None

    return input_fn


def _once(value: Any) -> tf.Tensor:
    """Returns a tensor that can be read once: a constant would make predictions without end."""
    return tf.compat.v1.train.limit_epochs(value, num_epochs=1)
