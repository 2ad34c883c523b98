"""Series in arrays, with dimensions for the batch, the time and the feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures

__all__ = ["with_all_dimensions"]

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
# By the number of dimensions of times: the names of those that values may have, and which
# dimensions times lacks.
_KINDS = {
    0: ("[number of features]", "a batch or time dimension", "1 dimension"),
    1: ("[series length, number of features]", "a batch dimension", "2 dimensions"),
}


def with_all_dimensions(data: Mapping[str, Any], require_single_batch: bool) -> dict[str, Any]:
    """Adds the dimensions that the arrays of a series lack, with size 1.

    Args:
      data: arrays by name, with times and values: one example (times is a number), a series (times
        is [length]), or a batch of series (times is [batch, length]). Every shape begins with that
        of times; values may have one dimension more, for the feature.
      require_single_batch: whether to refuse batches of other than one series.

    Returns:
      The arrays, [batch, length, ...].

    Raises:
      ValueError: times or values is missing, or a shape does not fit.
    """
    arrays = {name: np.array(value) for name, value in data.items()}
    if not {_TIMES, _VALUES} <= arrays.keys():
        raise ValueError(
            f"{_TIMES} and {_VALUES} are required features. Got {sorted(map(str, arrays))}."
        )
    shape = arrays[_TIMES].shape
    _check_prefixes(arrays, shape)
    if len(shape) > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two "
            f"([batch size, series length]), but got shape {shape}."
        )
    if len(shape) < 2:
        values = arrays[_VALUES]
        if values.ndim > len(shape) + 1:
            expected, lacking, most = _KINDS[len(shape)]
            raise ValueError(
                f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was "
                f"expecting at most {most} ({expected}) since '{_TIMES}' does not have {lacking}, "
                f"but got shape {values.shape}"
            )
        if values.ndim == len(shape):
            arrays[_VALUES] = values[..., None]
        added = tuple(range(2 - len(shape)))
        arrays = {name: np.expand_dims(value, added) for name, value in arrays.items()}
    if require_single_batch and len(arrays[_TIMES]) != 1:
        raise ValueError(
            "Got batch input, was expecting unbatched input. The shape of "
            f"'{_TIMES}' is {arrays[_TIMES].shape}; give one series."
        )
    return arrays


def _check_prefixes(arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> None:
    for name, value in arrays.items():
        if value.shape[: len(shape)] != shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. "
                f"Got shape {value.shape} for feature '{name}', but shape {shape} for '{_TIMES}'"
            )
