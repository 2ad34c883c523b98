"""A step, and the values that loops watch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.resources import Resources
from estimator_bridge.runtime.replicas import mean_over_replicas
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_fetches import StepFetches

__all__ = ["WatchedStep"]


@dataclasses.dataclass(frozen=True)
class WatchedStep:
    """A step with its loss, its fetches and the variable that counts steps.

    Attributes:
      run: the step.
      fetches: the results wanted of it.
      strategy: runs the replicas.
      resources: the variables.
      loss: the scalar to watch; None if there is none.
      counter: an integer variable (the global step); None if there is none.
    """

    run: ReplicaStep
    fetches: StepFetches
    strategy: tf.distribute.Strategy
    resources: Resources
    loss: str | None
    counter: str | None

    def __call__(
        self, batch: Any, rng_step: Any, fed: Sequence[tf.Tensor]
    ) -> tuple[tf.Tensor, list[Any]]:
        """Runs the step; see ``ReplicaStep``.

        Returns:
          The loss, averaged over the replicas (0 if none is watched), and the fetches' needs.
        """
        values = self.run(batch, rng_step, fed)
        loss = tf.constant(0.0)
        if self.loss:
            loss = mean_over_replicas(self.strategy, values[self.loss])
            loss.set_shape([])  # the graph may not know the shape
        return loss, self.fetches.needed(self.strategy, values)

    def counted(self) -> tf.Tensor:
        """Returns the current value of the counter: a scalar, int64."""
        assert self.counter is not None
        return tf.cast(self.resources.first_copy(self.counter).read_value(), tf.int64)
