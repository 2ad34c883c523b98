"""Ensembles: several models of hidden states that act as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.matrices import block_diagonal
from estimator_bridge_contrib.timeseries.state_space import StateSpaceModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    StateSpaceModelConfiguration,
)

__all__ = [
    "StateSpaceCorrelatedFeaturesEnsemble",
    "StateSpaceEnsemble",
    "StateSpaceIndependentEnsemble",
]

_v1 = tf.compat.v1


class StateSpaceEnsemble(StateSpaceModel):
    """A model whose state has the states of several models, whose observations are added.

    Args:
      ensemble_members: the models.
      configuration: the options.
    """

    def __init__(
        self, ensemble_members: Sequence[Any], configuration: StateSpaceModelConfiguration
    ):
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        own = super()._loss_additions(times, values, mode)
        return own + tf.add_n(
            [member._loss_additions(times, values, mode) for member in self._ensemble_members]
        )

    def _compute_blocked(self, member_fn: Callable[[Any], Any], name: str) -> tf.Tensor:
        """Puts a matrix of each model on the diagonal of one."""
        with _v1.variable_scope(self._variable_scope):
            blocks = [member_fn(member) for member in self._ensemble_members]
            return block_diagonal(blocks, dtype=self.dtype, name=name)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """Raises the transition matrix to powers; see the base class."""
        return self._compute_blocked(
            lambda member: member.transition_to_powers(powers), "ensemble_transition_to_powers"
        )

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with _v1.variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = (
                    self._variable_observation_transition_tradeoff_log()
                )
            for member in self._ensemble_members:
                member._define_parameters(
                    observation_transition_tradeoff_log=observation_transition_tradeoff_log
                )
            super()._define_parameters(
                observation_transition_tradeoff_log=observation_transition_tradeoff_log
            )

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Draws the parameters of all models; see the base class."""
        drawn: dict[Any, Any] = {}
        for number, member in enumerate(self._ensemble_members):
            drawn.update(member.random_model_parameters(seed=seed + number if seed else None))
        drawn.update(super().random_model_parameters(seed=seed))
        return drawn

    def get_prior_mean(self) -> tf.Tensor:
        """Returns the mean of the state before the series; see the base class."""
        return tf.concat(
            [member.get_prior_mean() for member in self._ensemble_members],
            axis=0,
            name="ensemble_prior_state_mean",
        )

    def get_state_transition(self) -> tf.Tensor:
        """Returns the transition matrix; see the base class."""
        return self._compute_blocked(
            lambda member: member.get_state_transition(), "ensemble_state_transition"
        )

    def get_noise_transform(self) -> tf.Tensor:
        """Returns the matrix that adds noise; see the base class."""
        return self._compute_blocked(
            lambda member: member.get_noise_transform(), "ensemble_noise_transform"
        )

    def get_observation_model(self, times: Any) -> Any:
        """Raises a NotImplementedError: see `get_broadcasted_observation_model`."""
        raise NotImplementedError(
            "No un-broadcasted observation model defined for ensembles. Call "
            "get_broadcasted_observation_model."
        )

    def get_broadcasted_observation_model(self, times: Any) -> tf.Tensor:
        """Returns how states are observed: each model's observations are added.

        Args:
          times: [batch].

        Returns:
          [batch, features, states].
        """
        parts = [
            self._tensor(member.get_broadcasted_observation_model(times))
            for member in self._ensemble_members
        ]
        return tf.concat(parts, axis=2)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """An ensemble of models whose noise is independent; see `StateSpaceEnsemble`."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        """Computes the noise of several steps; see the base class."""
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps),
            "ensemble_power_noise_accumulator",
        )

    def get_prior_covariance(self) -> tf.Tensor:
        """Returns the covariance of the state before the series; see the base class."""
        return self._compute_blocked(
            lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance"
        )

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> tf.Tensor:
        """Returns the covariance of the states' noise; see the base class."""
        del minimum_initial_variance  # the models have used their own
        return self._compute_blocked(
            lambda member: member.state_transition_noise_covariance,
            "ensemble_state_transition_noise",
        )


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """An ensemble of a model for each feature, whose noise is correlated.

    Args:
      ensemble_members: a model of one feature for each feature.
      configuration: the options.

    Raises:
      ValueError: the number of models is not that of the features, or one has several features.
    """

    def __init__(
        self, ensemble_members: Sequence[Any], configuration: StateSpaceModelConfiguration
    ):
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the "
                f"number of features in the time series. Got {len(ensemble_members)} members and "
                f"{configuration.num_features} features."
            )
        for member in ensemble_members:
            if member.num_features != 1:
                raise ValueError(
                    "StateSpaceCorrelatedFeaturesEnsemble components must be univariate. Got one "
                    f"of {member.num_features} features."
                )
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        """Computes the noise of several steps; see the base class."""
        if len(self._ensemble_members) == 1:  # a model may have a faster way
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps=num_steps)
        return super().transition_power_noise_accumulator(num_steps=num_steps)

    def get_broadcasted_observation_model(self, times: Any) -> tf.Tensor:
        """Returns how states are observed: each model is one feature; see the base class."""
        return self._compute_blocked(
            lambda member: self._tensor(member.get_broadcasted_observation_model(times)),
            "feature_ensemble_observation_model",
        )
