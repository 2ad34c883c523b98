"""StateSpaceModelConfiguration: the options of models of hidden states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.timeseries.covariances import (
    log_noninformative_covariance_prior,
)

__all__ = ["DEFAULTS", "StateSpaceModelConfiguration"]


class StateSpaceModelConfiguration(NamedTuple):
    """Options of a `StateSpaceModel`.

    Attributes:
      num_features: the number of features.
      use_observation_noise: whether observations have noise besides the states'. Without it,
        transition_covariance_initial_log_scale_bias should be 0 or more. Of an ensemble, the
        ensemble's option counts.
      dtype: the type of floats.
      covariance_prior_fn: a function of a covariance matrix, which returns a log probability that
        training maximizes as well. By default it prefers small noise; ``lambda _: 0.0`` has no
        preference.
      bayesian_prior_weighting: whether to divide that by the series's estimated length, instead of
        the window's.
      filtering_postprocessor: a FilteringStepPostprocessor, which may leave outliers out.
      trainable_start_state: whether to train the start state.
      exogenous_noise_increases: whether what is known besides the series is added to the state,
        with noise.
      exogenous_noise_decreases: whether it counts as an observation of the state.
      exogenous_feature_columns: feature columns of it.
      exogenous_update_condition: where it counts; see `SequentialTimeSeriesModel`.
      filtering_maximum_posterior_variance_ratio: the largest allowed ratio of two variances of a
        state before an observation.
      filtering_minimum_posterior_variance: the smallest allowed variance.
      transition_covariance_initial_log_scale_bias: the initial noise of states is proportional to
        the exponential of this, that of observations to its reciprocal.
      static_unrolling_window_size_threshold: see `SequentialTimeSeriesModel`.
    """

    num_features: int = 1
    use_observation_noise: bool = True
    dtype: Any = tf.float32
    covariance_prior_fn: Callable[[Any], Any] = log_noninformative_covariance_prior
    bayesian_prior_weighting: bool = True
    filtering_postprocessor: Any = None
    trainable_start_state: bool = False
    exogenous_noise_increases: bool = True
    exogenous_noise_decreases: bool = False
    exogenous_feature_columns: Sequence[Any] | None = None
    exogenous_update_condition: Callable[..., Any] | None = None
    filtering_maximum_posterior_variance_ratio: float = 1e6
    filtering_minimum_posterior_variance: float = 0.0
    transition_covariance_initial_log_scale_bias: float = -5.0
    static_unrolling_window_size_threshold: int | None = None


DEFAULTS = StateSpaceModelConfiguration()
