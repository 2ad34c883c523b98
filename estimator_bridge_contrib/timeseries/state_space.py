"""StateSpaceModel: a series as observations of a hidden state that changes linearly."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import ModeKeys
from estimator_bridge_contrib.timeseries.covariances import (
    clip_covariance,
    variable_covariance_matrix,
)
from estimator_bridge_contrib.timeseries.exogenous_updates import (
    added_to_state,
    observed_state,
)
from estimator_bridge_contrib.timeseries.kalman_filter import KalmanFilter
from estimator_bridge_contrib.timeseries.matrices import (
    matrix_to_powers,
    power_sums_tensor,
)
from estimator_bridge_contrib.timeseries.sequential_model import SequentialTimeSeriesModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    StateSpaceModelConfiguration,
)
from estimator_bridge_contrib.timeseries.state_space_draws import (
    draw_parameters,
    draw_series,
)
from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = ["StateSpaceModel"]

_v1 = tf.compat.v1


class StateSpaceModel(SequentialTimeSeriesModel):
    """Predicts a series by a Kalman filter.

    A subclass defines how a state follows from the one before (`get_state_transition`), where its
    noise enters (`get_noise_transform`), and how it is observed (`get_observation_model`). A
    model's state is a mean, a covariance and the time of both.

    Args:
      configuration: the options.

    Attributes:
      prior_state_mean: [states], after `initialize_graph`.
      prior_state_var: [states, states], as well.
      state_transition_noise_covariance: [noises, noises], as well.
    """

    def __init__(self, configuration: StateSpaceModelConfiguration):
        self._configuration = configuration
        postprocessor = configuration.filtering_postprocessor
        more = [] if postprocessor is None else list(postprocessor.output_names)
        super().__init__(
            train_output_names=["mean", "covariance", "log_likelihood", *more],
            predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features,
            normalize_features=True,
            dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=(
                configuration.static_unrolling_window_size_threshold
            ),
        )
        self._kalman_filter: Any = None
        self.prior_state_mean: Any = None
        self.prior_state_var: Any = None
        self.state_transition_noise_covariance: Any = None
        self._observation_noise_covariance: Any = None
        # The variables belong to the scope in which the model is made, so that an ensemble can
        # give each of its models a scope although it makes all variables at once.
        self._variable_scope = _v1.get_variable_scope()

    # What a subclass defines.

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """Returns the transition matrix, [states, states]."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """Returns the matrix that adds noise to a state, [states, noises]."""

    @abc.abstractmethod
    def get_observation_model(self, times: Any) -> Any:
        """Returns how states are observed at some times.

        Args:
          times: [batch].

        Returns:
          [states], the same for all features; [features, states]; or [batch, features, states].
        """

    def get_features_for_timesteps(self, timesteps: Any) -> tf.Tensor:
        """Returns features of times [batch]: none, [batch, 0]."""
        return tf.zeros([tf.shape(timesteps)[0], 0], dtype=self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        """Computes the noise of several steps together.

        Args:
          num_steps: the numbers of steps, [...].

        Returns:
          [..., states, states].
        """
        transform = self._tensor(self.get_noise_transform())
        noise = tf.matmul(transform, self.state_transition_noise_covariance)
        noise = tf.matmul(noise, transform, transpose_b=True)
        sums = power_sums_tensor(
            tf.reduce_max(num_steps) + 1, self._tensor(self.get_state_transition()), noise
        )
        return tf.gather(sums, indices=num_steps)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """Raises the transition matrix to powers [...]; returns [..., states, states]."""
        return matrix_to_powers(self._tensor(self.get_state_transition()), powers)

    def _tensor(self, value: Any) -> tf.Tensor:
        return tf.convert_to_tensor(value, dtype=self.dtype)

    # One time of a series.

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes what the window's gaps need, once for each length of a gap."""
        times = tf.convert_to_tensor(times)
        before = tf.convert_to_tensor(state[2])
        inner = tf.reshape(times[:, 1:] - times[:, :-1], [-1])
        # The start time is that of the batches so far, so a window may begin before it.
        outer = tf.maximum(times[:, 0] - before, 0)
        gaps, _ = tf.unique(tf.concat([inner, outer], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(gaps)
        self._window_transition_powers = self.transition_to_powers(gaps)
        self._window_gap_sizes = gaps

    def _cached_transition_powers_and_sums(self, num_steps: Any) -> list[tf.Tensor]:
        """Returns transition matrices and noise for numbers of steps [batch]."""
        sizes = self._window_gap_sizes
        _, places = tf.unique(tf.concat([sizes, tf.cast(num_steps, sizes.dtype)], axis=0))
        powers_and_sums = []
        for cache in (self._window_transition_powers, self._window_power_sums):
            each = tf.gather(cache, places[-tf.shape(num_steps)[0] :])
            each.set_shape(num_steps.shape.concatenate(each.shape[-2:]))
            powers_and_sums.append(each)
        return powers_and_sums

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        mean, variance, before = state
        steps = tf.maximum(current_times - before, 0)
        transitions, noise = self._cached_transition_powers_and_sums(steps)
        return (
            self._kalman_filter.predict_state_mean(mean, transitions),
            self._kalman_filter.predict_state_var(variance, transitions, noise),
            before + steps,
        )

    def _prediction_step(self, current_times: Any, state: Any) -> tuple[Any, dict[str, Any]]:
        mean, variance, before = state
        is_there = tf.reduce_all(tf.less_equal(current_times, before))
        message = "Attempted to predict a time that the state has not reached."
        with tf.control_dependencies([_v1.Assert(is_there, [message])]):
            expected, covariance = self._kalman_filter.observed_from_state(
                state_mean=mean,
                state_var=variance,
                observation_model=self.get_broadcasted_observation_model(current_times),
                observation_noise=self._observation_noise_covariance,
            )
        features = self.num_features
        expected.set_shape(current_times.shape.concatenate([features]))
        covariance.set_shape(current_times.shape.concatenate([features, features]))
        # They are scaled back after the loop, because the loss is that of scaled values.
        return (mean, variance, current_times), {"mean": expected, "covariance": covariance}

    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        mean, variance, before = state
        observation_model = self.get_broadcasted_observation_model(current_times)
        is_there = tf.reduce_all(tf.equal(current_times, before))
        message = "Attempted to observe a time that the state has not reached."
        with tf.control_dependencies([_v1.Assert(is_there, [message])]):
            variance = clip_covariance(
                variance,
                self._configuration.filtering_maximum_posterior_variance_ratio,
                self._configuration.filtering_minimum_posterior_variance,
            )
            mean, variance, likelihood = self._kalman_filter.do_filter(
                estimated_state=mean,
                estimated_state_covariance=variance,
                predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"],
                observation=current_values,
                observation_model=observation_model,
                observation_noise=self._observation_noise_covariance,
            )
        filtered = (mean, variance, current_times)
        likelihood.set_shape(current_times.shape)
        predictions["loss"] = -likelihood
        predictions["log_likelihood"] = likelihood
        postprocessor = self._configuration.filtering_postprocessor
        if postprocessor is None:
            return filtered, predictions
        return postprocessor.process_filtering_step(
            current_times=current_times,
            current_values=current_values,
            predicted_state=state,
            filtered_state=filtered,
            outputs=predictions,
        )

    def _exogenous_noise_decreasing(
        self, current_times: Any, exogenous_values: Any, state: Any
    ) -> Any:
        """Updates a state as if vectors [batch, n] were observations of it."""
        del current_times
        mean, variance, before = state
        size = static_size(self._tensor(self.get_state_transition()), 0)
        kalman_filter = self._kalman_filter
        return *observed_state(kalman_filter, exogenous_values, mean, variance, size), before

    def _exogenous_noise_increasing(
        self, current_times: Any, exogenous_values: Any, state: Any
    ) -> Any:
        """Adds to a state what dense layers make of vectors [batch, n]."""
        del current_times
        mean, variance, before = state
        return *added_to_state(exogenous_values, mean, variance), before

    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        if self._configuration.exogenous_noise_decreases:
            state = self._exogenous_noise_decreasing(
                current_times, current_exogenous_regressors, state
            )
        if self._configuration.exogenous_noise_increases:
            state = self._exogenous_noise_increasing(
                current_times, current_exogenous_regressors, state
            )
        return state

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """Returns the prior's part of a training's loss."""
        if mode != ModeKeys.TRAIN:
            return tf.zeros([], dtype=self.dtype)
        if self._input_statistics is not None and self._configuration.bayesian_prior_weighting:
            length = self._input_statistics.total_observation_count
        else:
            length = tf.shape(times)[1]
        weight = 1.0 / tf.cast(length, self.dtype)
        prior = self._configuration.covariance_prior_fn
        total = self._tensor(prior(self.state_transition_noise_covariance))
        noise = self._observation_noise_covariance
        if self._configuration.use_observation_noise and noise is not None:
            total += self._tensor(prior(noise))
        return -weight * total

    # Variables.

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the variables of a model that is not part of an ensemble; see the base class."""
        self._set_input_statistics(input_statistics)
        self._define_parameters()
        with _v1.variable_scope(self._variable_scope):
            self._observation_noise_covariance = self._tensor(
                self.get_observation_noise_covariance()
            )
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        self.prior_state_mean, self.prior_state_var = self._make_priors()

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        """Makes the variables of this model and of those below it.

        Args:
          observation_transition_tradeoff_log: a number that the noise of observations is multiplied
            by and that of states divided by, as a logarithm; None for a variable.
        """
        with _v1.variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = (
                    self._variable_observation_transition_tradeoff_log()
                )
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _variable_observation_transition_tradeoff_log(self) -> Any:
        bias = self._configuration.transition_covariance_initial_log_scale_bias
        return _v1.get_variable(
            name="observation_transition_tradeoff_log_scale",
            initializer=tf.constant(-bias, dtype=self.dtype),
            dtype=self.dtype,
        )

    def _make_priors(self) -> tuple[Any, Any]:
        """Returns the mean and the covariance of the state before the series."""
        variance = self.get_prior_covariance()
        return self.get_prior_mean(), variance

    def get_prior_covariance(self) -> tf.Tensor:
        """Returns the covariance of the state before the series, [states, states]."""
        with _v1.variable_scope(self._variable_scope):
            size = static_size(tf.convert_to_tensor(self.get_state_transition()), 0)
            if not self._configuration.trainable_start_state:
                return tf.eye(size, dtype=self.dtype)
            variance = variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            if self._input_statistics is None:
                return variance
            largest = tf.reduce_max(self._start_variance())
            return variance * tf.maximum(largest, 1.0)

    def _start_variance(self) -> Any:
        """Returns the scaled variance of the series's first values, [features]."""
        return self._scale_variance(self._input_statistics.series_start_moments.variance)

    def get_prior_mean(self) -> Any:
        """Returns the mean of the state before the series, [states]."""
        with _v1.variable_scope(self._variable_scope):
            return _v1.get_variable(
                name="prior_state_mean",
                shape=[static_size(self._tensor(self.get_state_transition()), 0)],
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> tf.Tensor:
        """Returns the covariance of the states' noise, [noises, noises]."""
        size = static_size(self._tensor(self.get_noise_transform()), 1)
        scale: Any = 0.0
        if self._input_statistics is not None:
            count = tf.cast(self._input_statistics.total_observation_count, self.dtype)
            variance = tf.reduce_mean(self._start_variance()) / count
            scale = tf.math.log(tf.maximum(variance, minimum_initial_variance))
        # It begins low: training raises noise more easily than it lowers it.
        scale -= self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(
            size,
            "state_transition_noise",
            dtype=self.dtype,
            initial_overall_scale_log=scale,
        )

    def get_observation_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> tf.Tensor:
        """Returns the covariance of the observations' noise, [features, features]."""
        name = "observation_noise_covariance"
        if not self._configuration.use_observation_noise:
            return tf.zeros([self.num_features] * 2, name=name, dtype=self.dtype)
        variances = None
        if self._input_statistics is not None:
            variances = tf.maximum(self._start_variance(), minimum_initial_variance)
        return variable_covariance_matrix(
            size=self.num_features,
            dtype=self.dtype,
            name=name,
            initial_diagonal_values=variances,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    def get_start_state(self) -> tuple[Any, Any, Any]:
        """Returns the state before the series: mean, covariance and time."""
        if self._input_statistics is None:
            start = tf.zeros([], dtype=tf.int64)
        else:
            start = self._input_statistics.start_time
        return self.prior_state_mean, self.prior_state_var, start - 1

    def get_broadcasted_observation_model(self, times: Any) -> tf.Tensor:
        """Returns how states are observed at times [batch]: [batch, features, states].

        Raises:
          ValueError: `get_observation_model` returned something of 0 or more than 3 dimensions.
        """
        model = self._tensor(self.get_observation_model(times))
        rank = model.shape.with_rank_at_least(1).with_rank_at_most(3).ndims
        count = tf.shape(times)[0]
        if rank is None:
            has_rank = _v1.Assert(tf.equal(tf.rank(model), 3), [tf.shape(model)])
            with tf.control_dependencies([has_rank]):
                return tf.identity(model)
        if rank == 1:
            row = tf.reshape(model, [1, 1, -1])
            return tf.tile(row, [count, self.num_features, 1])
        return tf.tile(tf.expand_dims(model, axis=0), [count, 1, 1]) if rank == 2 else model

    # Drawn series.

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Draws parameters to generate series with.

        Args:
          seed: the seed of the draws; None for NumPy's state.

        Returns:
          Arrays by tensor.

        Raises:
          NotImplementedError: the series has several features.
        """
        return draw_parameters(self, seed)

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Mapping[Any, Any] | None = None,
        seed: int | None = None,
        add_observation_noise: bool | None = None,
    ) -> dict[str, Any]:
        """Draws series, in the default session; see the base class.

        Args:
          number_of_series: see the base class.
          series_length: as well.
          model_parameters: as well.
          seed: as well.
          add_observation_noise: whether to draw noise of the observations; by default as the
            configuration says.

        Raises:
          NotImplementedError: the series has several features.
        """
        if add_observation_noise is None:
            add_observation_noise = self._configuration.use_observation_noise
        sizes: Sequence[int] = (number_of_series, series_length)
        return draw_series(self, sizes, model_parameters or {}, seed, add_observation_noise)
