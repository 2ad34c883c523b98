"""Checks of the features that a head gets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from estimator_bridge_contrib.timeseries.feature_keys import (
    PredictionFeatures,
    State,
    TrainEvalFeatures,
)

__all__ = ["check_predict_features", "check_train_eval_features"]

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def check_train_eval_features(features: Mapping[str, Any], model: Any) -> None:
    """Checks the features of training or evaluation.

    Args:
      features: tensors by name.
      model: the model, for its num_features.

    Raises:
      ValueError: times or values is missing, or a shape does not fit.
    """
    _check_present(features, (_TIMES, _VALUES), "training/evaluation")
    times, values = features[_TIMES], features[_VALUES]
    _check_times(times)
    if not values.shape.is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature "
            f"'{_VALUES}', since the model was configured with num_features={model.num_features} "
            f"(got shape {values.shape})"
        )
    _check_prefixes(features, times, {State.STATE_TUPLE})


def check_predict_features(
    features: Mapping[str, Any],
    required: Collection[str] = (_TIMES, PredictionFeatures.STATE_TUPLE),
    with_other_times: Collection[str] = (),
) -> None:
    """Checks the features of a prediction.

    Args:
      features: tensors by name.
      required: the names that must be there.
      with_other_times: the names of those that may have other times.

    Raises:
      ValueError: one is missing, or a shape does not fit.
    """
    _check_present(features, required, "prediction")
    _check_times(features[_TIMES])
    _check_prefixes(features, features[_TIMES], {State.STATE_TUPLE, *with_other_times})


def _check_present(features: Mapping[str, Any], names: Collection[str], purpose: str) -> None:
    for name in names:
        if name not in features:
            raise ValueError(
                f"Expected a '{name}' feature for {purpose}. Got {sorted(map(str, features))}."
            )


def _check_times(times: Any) -> None:
    if not times.shape.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{_TIMES}' (got shape "
            f"{times.shape})"
        )


def _check_prefixes(features: Mapping[str, Any], times: Any, ignored: Collection[str]) -> None:
    for name, value in features.items():
        if name in ignored:
            continue
        shape = value.shape
        if shape.ndims is None:
            continue
        if shape.ndims < 2 or not shape[:2].is_compatible_with(times.shape):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch "
                f"dimension and window size match the '{_TIMES}' feature (got shape {shape} for "
                f"feature '{name}' but shape {times.shape} for feature '{_TIMES}')"
            )
