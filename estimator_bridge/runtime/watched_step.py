"""A step, and what loops look at."""

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
    """A step with its loss, what is fetched of it, and the variable that counts steps.

    Attributes:
      run: the step.
      fetches: what is wanted of it.
      strategy: runs the replicas.
      resources: the variables.
      loss: the scalar to watch; None for none.
      counter: an integer variable (the global step); None for none.
    """

    run: ReplicaStep
    fetches: StepFetches
    strategy: tf.distribute.Strategy
    resources: Resources
    loss: str | None
    counter: str | None

    def __call__(
        self, batch: Any, draw: Any, fed: Sequence[tf.Tensor]
    ) -> tuple[tf.Tensor, list[Any]]:
        """Runs the step; see ``ReplicaStep``.

        Returns:
          The loss, averaged over the replicas (0 where none is watched), and the fetches' needs.
        """
        values = self.run(batch, draw, fed)
        loss = tf.constant(0.0)
        if self.loss:
            loss = mean_over_replicas(self.strategy, values[self.loss])
            loss.set_shape([])  # of which the graph may not know
        return loss, self.fetches.needed(self.strategy, values)

    def counted(self) -> tf.Tensor:
        """The counter's value now: a scalar, int64."""
        assert self.counter is not None
        return tf.cast(self.resources.first_copy(self.counter).read_value(), tf.int64)
