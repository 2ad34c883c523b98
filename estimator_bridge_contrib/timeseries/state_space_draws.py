"""Series and parameters that are drawn from a model of hidden states, by NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.timeseries.feature_keys import TrainEvalFeatures
from estimator_bridge_contrib.timeseries.model_utils import parameter_switch

__all__ = ["draw_parameters", "draw_series"]


def draw_parameters(model: Any, seed: int | None) -> dict[Any, Any]:
    """Draws a model's parameters.

    Args:
      model: a StateSpaceModel in the current graph.
      seed: the seed; None or 0 for NumPy's state.

    Returns:
      Arrays by tensor.

    Raises:
      NotImplementedError: the model has several features.
    """
    _check_univariate(model)
    if seed:
        np.random.seed(seed)
    states, noises = tf.convert_to_tensor(model.get_noise_transform()).shape.as_list()
    variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noises])
    start = np.random.normal(size=[states])
    parameters: dict[Any, Any] = {}

    def set_parameter(tensor: Any, value: Any) -> None:
        if tensor is not None:
            parameters[tensor] = value

    set_parameter(model.prior_state_mean, start)
    set_parameter(model.state_transition_noise_covariance, np.diag(variances))
    set_parameter(model.prior_state_var, np.zeros([states, states]))
    if model._configuration.use_observation_noise:
        variance = 1.0 / np.random.gamma(shape=4, scale=4)
        parameters[model._observation_noise_covariance] = [[variance]]
    return parameters


def draw_series(
    model: Any,
    sizes: Sequence[int],
    parameters: Mapping[Any, Any],
    seed: int | None,
    with_observation_noise: bool,
) -> dict[str, np.ndarray]:
    """Draws series of a model, in the default session.

    Args:
      model: a StateSpaceModel in the session's graph.
      sizes: the number of series, and their length.
      parameters: arrays by tensor, to use instead of the model's values.
      seed: the seed; None for NumPy's state.
      with_observation_noise: whether observations have noise.

    Returns:
      Arrays by name: times, [series, length]; values, [series, length, 1].

    Raises:
      NotImplementedError: the model has several features.
    """
    if seed is not None:
        np.random.seed(seed)
    _check_univariate(model)
    count, length = sizes
    value_of = parameter_switch(parameters)

    def evaluated(value: Any, dtype: Any = None) -> np.ndarray:
        return tf.convert_to_tensor(value, dtype=dtype).eval(feed_dict=parameters)

    transition = evaluated(model.get_state_transition(), model.dtype)
    transform = evaluated(model.get_noise_transform())
    deviations = np.sqrt(np.diag(value_of(model.state_transition_noise_covariance)))
    noise = None
    if with_observation_noise:
        noise = np.sqrt(value_of(model._observation_noise_covariance)[0][0])
    states = np.tile(value_of(model.prior_state_mean)[None], [count, 1])
    values = np.zeros([count, length])
    observed = evaluated(model.get_broadcasted_observation_model(times=tf.range(length)))
    for time, row in enumerate(observed):
        states = np.dot(states, transition.T)
        drawn = np.random.normal(
            loc=np.zeros([count, transform.shape[1]]), scale=np.tile(deviations[None], [count, 1])
        )
        # Added in place, the sum keeps the type of the states.
        states += np.dot(drawn, transform.T)
        mean = np.dot(states, row[0].T)
        values[:, time] = mean if noise is None else np.random.normal(loc=mean, scale=noise)
    times = np.tile(np.arange(length)[None], [count, 1])
    return {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: values[..., None]}


def _check_univariate(model: Any) -> None:
    if model.num_features != 1:
        raise NotImplementedError(
            "Generation for multivariate state space models is not currently implemented. This "
            f"model has {model.num_features} features; use one of 1."
        )
