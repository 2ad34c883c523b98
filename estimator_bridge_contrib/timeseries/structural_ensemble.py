"""Structural models: a level with a slope, periods, and deviations that pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
)
from estimator_bridge_contrib.timeseries.level_trend import AdderStateSpaceModel
from estimator_bridge_contrib.timeseries.periodic import (
    CycleStateSpaceModel,
    ResolutionCycleModel,
)
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    DEFAULTS,
    StateSpaceModelConfiguration,
)
from estimator_bridge_contrib.timeseries.varma import VARMA

__all__ = ["MultiResolutionStructuralEnsemble", "StructuralEnsemble"]

_scope = tf.compat.v1.variable_scope
_Configuration = StateSpaceModelConfiguration


class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """Adds a level with a slope, a cycle for each period, and a VARMA model.

    Each feature has its own level and cycles, with correlated noise. The size of the state grows
    with the periods; `MultiResolutionStructuralEnsemble` has a fixed size.

    Args:
      periodicities: a period, or a list of them, in steps.
      moving_average_order: the number of steps after which a deviation has passed.
      autoregressive_order: the number of steps that the autoregression looks back.
      use_level_noise: has no effect, as in TensorFlow 1: levels have noise.
      configuration: the options.
    """

    def __init__(
        self,
        periodicities: Any,
        moving_average_order: int,
        autoregressive_order: int,
        use_level_noise: bool = True,
        configuration: _Configuration = DEFAULTS,
    ):
        del use_level_noise
        parts = _Parts(configuration)
        members = parts.level_and_varma(autoregressive_order, moving_average_order)
        for number, period in enumerate(tf.nest.flatten(periodicities)):
            members.append(parts.cycle(number, CycleStateSpaceModel, periodicity=period))
        super().__init__(ensemble_members=members, configuration=configuration)


class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """Adds a level with a slope, a cycle for each period, and a VARMA model.

    A cycle has a fixed number of values whatever its period. Otherwise this is a
    `StructuralEnsemble`.

    Args:
      cycle_num_latent_values: the number of values of each cycle, or a list with one for each.
      moving_average_order: see `StructuralEnsemble`.
      autoregressive_order: as well.
      periodicities: a period, or a list of them; they need not be integers. None for none.
      use_level_noise: has no effect, as in TensorFlow 1: levels have noise.
      configuration: the options.

    Raises:
      ValueError: the list of numbers of values has another length than that of the periods, or a
        number is even.
    """

    def __init__(
        self,
        cycle_num_latent_values: Any,
        moving_average_order: int,
        autoregressive_order: int,
        periodicities: Any,
        use_level_noise: bool = True,
        configuration: _Configuration = DEFAULTS,
    ):
        del use_level_noise
        parts = _Parts(configuration)
        members = parts.level_and_varma(autoregressive_order, moving_average_order)
        periods = [] if periodicities is None else tf.nest.flatten(periodicities)
        counts = tf.nest.flatten(cycle_num_latent_values)
        if len(counts) != len(periods):
            if len(counts) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same size as "
                    f"`periodicity` or a scalar. Received length {len(counts)} "
                    f"`cycle_num_latent_values`, while `periodicities` has length {len(periods)}."
                )
            counts *= len(periods)
        for number, (period, count) in enumerate(zip(periods, counts)):
            members.append(
                parts.cycle(
                    number, ResolutionCycleModel, num_latent_values=count, periodicity=period
                )
            )
        super().__init__(ensemble_members=members, configuration=configuration)


class _Parts:
    """Makes the models of an ensemble, each in a variable scope.

    Args:
      configuration: the ensemble's options.
    """

    def __init__(self, configuration: _Configuration):
        # The ensemble has the noise of observations.
        self._of_all = configuration._replace(use_observation_noise=False)
        self._of_one = self._of_all._replace(num_features=1)

    def level_and_varma(self, ar_order: int, ma_order: int) -> list[Any]:
        """Makes a level with a slope for each feature, and a VARMA model."""
        with _scope("adder"):
            level = self._for_each_feature(AdderStateSpaceModel)
        with _scope("varma"):
            varma = VARMA(
                autoregressive_order=ar_order,
                moving_average_order=ma_order,
                configuration=self._of_all,
            )
        return [level, varma]

    def cycle(self, number: int, make: Callable[..., Any], **options: Any) -> Any:
        """Makes a cycle for each feature."""
        with _scope(f"cycle{number}"):
            return self._for_each_feature(make, **options)

    def _for_each_feature(self, make: Callable[..., Any], **options: Any) -> Any:
        models = []
        for feature in range(self._of_all.num_features):
            with _scope(f"feature{feature}"):
                models.append(make(configuration=self._of_one, **options))
        return StateSpaceCorrelatedFeaturesEnsemble(
            ensemble_members=models, configuration=self._of_all
        )
