"""The host's part of a block of steps, and the results for hooks, by TensorFlow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import LiftedSession, host_device
from estimator_bridge.runtime.host_step import HostPart
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.step_fetches import StepFetches
from estimator_bridge.runtime.step_values import HostStage
from estimator_bridge.tensorflow_private.names import PerReplica, eager_mode

__all__ = ["HostSteps"]


class HostSteps:
    """Runs the host's part after the steps of a block, in their order.

    Args:
      part: the host's part of a step; None if there is none.
      stage: its description.
      fetches: the results wanted of the last step.
      last: references of the first replica's values that are needed of the last step.
      strategy: the replicas.
      session: the session of the traced graph.
      fed: references that calls supply.

    Attributes:
      last: as given.

    Of several processes the first one runs it, on the values of all replicas.
    """

    def __init__(
        self,
        part: HostPart | None,
        stage: HostStage | None,
        fetches: StepFetches,
        last: Sequence[str],
        strategy: JaxStrategy,
        session: LiftedSession,
        fed: Sequence[str],
    ):
        self._part, self._stage, self._fetches = part, stage, fetches
        self._strategy, self._resources = strategy, session.resources
        self._fed = [session.graph.get_tensor_by_name(ref) for ref in fed]
        self.last = list(last)
        self._run: Any = None
        self._compute: Any = None
        self._rows: dict[str, np.ndarray] = {}  # of the last step

    @property
    def each(self) -> list[str]:
        """References of the replicas' values that are needed of each step."""
        return HostPart.needs_of(self._stage)

    @property
    def fed_count(self) -> int:
        """The number of values that a call supplies."""
        return len(self._fed)

    @property
    def is_needed(self) -> bool:
        """Whether there is work after each step."""
        return self._part is not None

    def uses_any(self, variables: Collection[str]) -> bool:
        """Returns whether the host's part uses any of these variables."""
        return self._part is not None and not self._part.variable_names.isdisjoint(variables)

    def begin(self) -> None:
        """Forgets the values of the call before."""
        self._rows = {}

    def __call__(
        self, each: Sequence[np.ndarray], steps: int, position: int, fed: Sequence[np.ndarray]
    ) -> None:
        """Runs the host's part of steps.

        Args:
          each: the values of ``self.each``, [steps or more, replicas, ...].
          steps: the number of steps.
          position: the number of steps before them.
          fed: the fed values.
        """
        if not steps:
            return
        rows = dict(zip(self.each, each))
        if self._strategy.process_index == 0:
            self._run_part(rows, steps, position, fed)
        self._rows = self._gather(rows, steps - 1)

    def fetch_values(self, last: Sequence[np.ndarray]) -> dict[str, Any]:
        """Returns the fetches by reference, from the last step's values of ``self.last``."""
        values = {**dict(zip(self.last, last)), **self._rows}
        needs = [values[ref] for ref in self._fetches.needs]
        return dict(zip(self._fetches.refs, self._fetch(needs)))

    def _gather(self, rows: dict[str, np.ndarray], step: int) -> dict[str, np.ndarray]:
        """Returns the host's inputs of a step: the replicas' values, joined."""
        if self._stage is None:
            return {}
        most = 1 if self._stage.first_replica_only else None
        result = {}
        for placeholder, ref in self._stage.inputs.items():
            parts = rows[ref][step][:most]
            result[placeholder] = np.concatenate(parts, 0) if len(parts) > 1 else parts[0]
        return result

    def _run_part(
        self, rows: dict[str, np.ndarray], steps: int, position: int, fed: Sequence[np.ndarray]
    ) -> None:
        assert self._part is not None
        resources = self._resources
        refs = HostPart.needs_of(self._stage)
        values = [rows[ref] for ref in refs]
        if self._run is None:
            self._run = self._trace(refs, values)
        with eager_mode(), tf.device(host_device()):
            resources.combine(self._part.variable_names)
            tensors = [
                tf.convert_to_tensor(value, tensor.dtype) for value, tensor in zip(fed, self._fed)
            ]
            self._run(tf.constant(steps), tf.constant(position, tf.int64), values, tensors)
            resources.deal_out(self._part.writes & resources.variables.keys(), ())

    def _trace(self, refs: Sequence[str], values: Sequence[np.ndarray]) -> Any:
        """Returns the function of the host's part of several steps."""
        part, replicas = self._part, self._strategy.num_replicas_in_sync
        assert part is not None

        def run(steps: tf.Tensor, position: tf.Tensor, rows: list[Any], fed: list[Any]) -> Any:
            def body(step: tf.Tensor) -> tuple[tf.Tensor]:
                of_step = {
                    ref: PerReplica(tuple(row[step][i] for i in range(replicas)))
                    for ref, row in zip(refs, rows)
                }
                number = position + tf.cast(step, tf.int64)
                results = part(of_step, number, fed)  # its operations run in order
                with tf.control_dependencies(list(results.values())):
                    return (step + 1,)

            return tf.while_loop(lambda step: step < steps, body, (tf.constant(0),))[0]

        signature = (
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([], tf.int64),
            [tf.TensorSpec([None, *value.shape[1:]], value.dtype) for value in values],
            [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in self._fed],
        )
        with eager_mode(), tf.device(host_device()):
            return tf.function(run, autograph=False).get_concrete_function(*signature)

    def _fetch(self, needs: Sequence[Any]) -> list[Any]:
        """Returns the values of the fetches, from those of their needs."""
        if self._fetches.is_direct:
            return list(needs)
        with eager_mode(), tf.device(host_device()):
            tensors = [tf.convert_to_tensor(need) for need in needs]
            if self._compute is None:
                specs = [tf.TensorSpec(t.shape, t.dtype) for t in tensors]
                self._compute = tf.function(
                    lambda *parts: self._fetches.compute(parts), autograph=False
                ).get_concrete_function(*specs)
            values = self._compute(*tensors)
        return [value.numpy() for value in values]
