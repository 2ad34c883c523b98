"""Helpers of models and of predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.timeseries.feature_keys import FilteringResults

__all__ = ["canonicalize_times_or_steps_from_output", "fully_connected", "parameter_switch"]

_v1 = tf.compat.v1


def fully_connected(
    inp: Any,
    inp_size: int,
    layer_size: int,
    name: str,
    activation: Callable[[Any], Any] | None = tf.nn.relu,
    dtype: Any = tf.float32,
) -> tf.Tensor:
    """Adds a dense layer with the variables ``NAME_weight`` and ``NAME_bias``.

    Args:
      inp: [batch, inp_size].
      inp_size: the size of the input.
      layer_size: the size of the output.
      name: the beginning of the variables' names.
      activation: a function of the output, or None.
      dtype: the type of the weights; the bias is float32.

    Returns:
      [batch, layer_size].
    """
    weight = _v1.get_variable(f"{name}_weight", [inp_size, layer_size], dtype)
    bias = _v1.get_variable(f"{name}_bias", [layer_size], initializer=_v1.zeros_initializer())
    output = _v1.nn.xw_plus_b(inp, weight, bias)
    return output if activation is None else activation(output)


def parameter_switch(parameter_overrides: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """Makes a function that evaluates a parameter in the default session.

    Args:
      parameter_overrides: values to use instead, by tensor.

    Returns:
      A function of a tensor, which returns its value.
    """
    overrides = {_key(tensor): value for tensor, value in parameter_overrides.items()}

    def value_of(parameter: Any) -> Any:
        return tf.convert_to_tensor(overrides.get(_key(parameter), parameter)).eval()

    return value_of


def _key(tensor: Any) -> Any:
    """Returns what identifies a tensor: tensors have no hash when they compare by value."""
    return tensor.ref() if hasattr(tensor, "ref") else tensor


def canonicalize_times_or_steps_from_output(
    times: Any, steps: int | None, previous_model_output: Mapping[str, Any]
) -> np.ndarray:
    """Returns the times of a prediction, [batch, window].

    Args:
      times: the times, [batch, window] or [window].
      steps: the number of times right after the previous ones, instead of times.
      previous_model_output: what an evaluation or an update of the state returned.

    Raises:
      ValueError: not exactly one of times and steps is given, the batch is of another size, or a
        time is not after the previous ones.
    """
    if steps is not None and times is not None:
        raise ValueError(
            f"Only one of `steps` and `times` may be specified. Got steps={steps} and times."
        )
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified. Got neither.")
    before = previous_model_output[FilteringResults.TIMES]
    if times is None:
        return before[:, -1:] + 1 + np.arange(int(steps or 0))[None, ...]
    new_times = np.array(times)
    if new_times.ndim != 2:
        new_times = new_times[None, ...]
    if before.shape[0] != new_times.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch "
            f"dimension of {new_times.shape[0]} for `times` and {before.shape[0]} for the previous "
            "model output)."
        )
    if not (before[:, -1] < new_times[:, 0]).all():
        raise ValueError(
            "Prediction times must be after the corresponding previous model output. That ends at "
            f"{before[:, -1].tolist()}, and `times` begins at {new_times[:, 0].tolist()}."
        )
    return new_times
