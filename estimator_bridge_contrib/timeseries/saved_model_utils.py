"""Predictions and updates of a state by an export, in a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from estimator_bridge_contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from estimator_bridge_contrib.timeseries.head import state_to_dictionary
from estimator_bridge_contrib.timeseries.model_utils import (
    canonicalize_times_or_steps_from_output,
)
from estimator_bridge_contrib.timeseries.series_arrays import with_all_dimensions

__all__ = ["cold_start_filter", "filter_continuation", "predict_continuation"]


def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predicts values after an evaluation or an update of the state.

    Args:
      continue_from: what ``evaluate()``, `cold_start_filter` or `filter_continuation` returned.
      signatures: the MetaGraphDef that tf.compat.v1.saved_model.load returned.
      session: the session into which it loaded the model.
      steps: how many times to predict.
      times: the times to predict instead, [batch, window] or [window].
      exogenous_features: arrays by name, [batch, window, ...].

    Returns:
      Arrays by name, [batch, window, ...], with the times.

    Raises:
      ValueError: not exactly one of steps and times is given, or the times do not fit.
    """
    prediction_times = canonicalize_times_or_steps_from_output(
        times=times, steps=steps, previous_model_output=continue_from
    )
    features = {PredictionFeatures.TIMES: prediction_times, **(exogenous_features or {})}
    signature = signatures.signature_def[SavedModelLabels.PREDICT]
    predictions = _run(session, signature, features, _state(continue_from))
    predictions[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
    return predictions


def cold_start_filter(signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """Updates the model's start state by values.

    Args:
      signatures: see `predict_continuation`.
      session: as well.
      features: arrays by name, with times and values: of one time, of a series, or of a batch of
        series.

    Returns:
      The state's arrays by name, and the times.

    Raises:
      ValueError: times or values is missing, or a shape does not fit.
    """
    return _filter(session, signatures, SavedModelLabels.COLD_START_FILTER, features, {})


def filter_continuation(
    continue_from: Mapping[str, Any], signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    """Updates a state by values.

    Args:
      continue_from: see `predict_continuation`.
      signatures: as well.
      session: as well.
      features: see `cold_start_filter`.

    Returns:
      The state's arrays by name, and the times.

    Raises:
      ValueError: times or values is missing, or a shape does not fit.
    """
    state = _state(continue_from)
    return _filter(session, signatures, SavedModelLabels.FILTER, features, state)


def _filter(
    session: Any, signatures: Any, name: str, features: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, Any]:
    signature = signatures.signature_def[name]
    arrays = with_all_dimensions(features, require_single_batch=False)
    results = _run(session, signature, arrays, state)
    results[FilteringResults.TIMES] = arrays[FilteringFeatures.TIMES]
    return results


def _state(output: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the arrays of a state by name; an evaluation has them as tuples."""
    if FilteringResults.STATE_TUPLE in output:
        return state_to_dictionary(output[FilteringResults.STATE_TUPLE])
    return output


def _run(
    session: Any, signature: Any, features: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, Any]:
    inputs = {key: value.name for key, value in signature.inputs.items()}
    outputs = {key: value.name for key, value in signature.outputs.items()}
    # The state may come with its own times, which those of the features replace.
    feeds = {inputs[key]: value for key, value in [*state.items(), *features.items()]}
    return session.run(outputs, feed_dict=feeds)


def __dir__() -> list[str]:
    return __all__
