"""The work of the host after each step, on what the replicas computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Lifted, LiftedSession, Snapshot, StateCut, host_device
from estimator_bridge.runtime.replicas import gather
from estimator_bridge.runtime.step_values import HostStage
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["HostPart"]


class HostPart:
    """The host's part of a step, for use inside a tf.function.

    Args:
      session: the session of the traced graph.
      strategy: runs the replicas.
      stage: the work to do.
      fed: references whose values a call supplies.
      replica_names: the nodes that a replica computes in the step.

    Attributes:
      needs: the references that it needs from the replicas.

    Raises:
      NotImplementedError: the replicas compute what the host is to count.
    """

    def __init__(
        self,
        session: LiftedSession,
        strategy: tf.distribute.Strategy,
        stage: HostStage,
        fed: Sequence[str],
        replica_names: Sequence[str],
    ):
        self._strategy, self._resources = strategy, session.resources
        self._stage, self._fed = stage, list(fed)
        self._loop_start: tf.Variable | None = None
        if stage.every_n_steps > 1:
            with eager_mode(), tf.device(host_device()):
                self._loop_start = tf.Variable(0, dtype=tf.int64, trainable=False)
        snapshot, owners = Snapshot.of(session.graph), self._resources.owners
        available_refs = {*(f"{name}:0" for name in owners), *fed}
        self._lifted = Lifted(snapshot, stage.operations, {*available_refs, *stage.inputs}, owners)
        self._resources.prepare(self._lifted.input_refs)
        self._counting: Lifted | None = None
        if stage.counter_cut:
            counters = stage.counter_cut
            _check_counted_once(counters, replica_names)
            available_refs.update(counters.inputs, counters.checks)
            self._counting = Lifted(snapshot, counters.operations, available_refs, owners)
            self._resources.prepare(self._counting.input_refs)

    @staticmethod
    def needs_of(stage: HostStage | None) -> list[str]:
        """Returns the references that a stage needs from the replicas."""
        if stage is None:
            return []
        counter_inputs = stage.counter_cut.inputs if stage.counter_cut else ()
        return list(dict.fromkeys([*stage.inputs.values(), *counter_inputs]))

    @property
    def is_random(self) -> bool:
        """Whether the result depends on the position in the random streams or in a loop."""
        return self._loop_start is not None or any(part.random_names for part in self._parts)

    @property
    def names(self) -> list[str]:
        """The nodes that the host computes."""
        return [name for part in self._parts for name in part.names]

    @property
    def _parts(self) -> list[Lifted]:
        return [self._lifted, *([self._counting] if self._counting else [])]

    @property
    def variable_names(self) -> set[str]:
        """The names behind the handles that it takes."""
        return {ref[: -len(":0")] for part in self._parts for ref in part.input_refs}

    @property
    def writes(self) -> set[str]:
        """The names of the variables that it may write."""
        return {name for part in self._parts for name in part.writes}

    def check_values(self) -> None:
        """Checks, eagerly, that the variables that it reads are initialized."""
        for part in self._parts:
            self._resources.check_values(part.reads_first)

    def begin_loop(self, rng_step: int) -> None:
        """Sets the position of a loop's first step, from which every_n_steps counts."""
        if self._loop_start is not None:
            with eager_mode():
                self._loop_start.assign(rng_step)

    def __call__(
        self, values: dict[str, Any], rng_step: tf.Tensor, fed: Sequence[tf.Tensor]
    ) -> dict[str, Any]:
        """Runs the host's part.

        Args:
          values: per-replica values of the step's tensors by reference.
          rng_step: the position in the random streams.
          fed: the values of the references that are fed, in their order.

        Returns:
          The host's inputs by reference, gathered.
        """
        stage, lifted = self._stage, self._lifted
        with tf.device(host_device()):
            most = 1 if stage.first_replica_only else None
            refs = dict.fromkeys(stage.inputs.values())
            rows = {ref: gather(self._strategy, values[ref], most) for ref in refs}
            inputs = {p: rows[ref] for p, ref in stage.inputs.items()}
            values_of_refs = {
                **self._resources.handles(lifted.input_refs),
                **inputs,
                **dict(zip(self._fed, fed)),
            }

            def run() -> Any:
                lifted(values_of_refs, lambda sums: [value for value, _ in sums], rng_step=rng_step)
                return tf.constant(True)

            if self._loop_start is None:
                run()
            else:
                number = rng_step - self._loop_start.read_value()
                is_due = tf.equal(number % stage.every_n_steps, 0)
                tf.cond(is_due, run, lambda: tf.constant(False))
        if stage.counter_cut and self._counting:
            self._count(stage.counter_cut, self._counting, {**values, **inputs}, rng_step, fed)
        return inputs

    def _count(
        self,
        cut: StateCut,
        lifted: Lifted,
        values: dict[str, Any],
        rng_step: tf.Tensor,
        fed: Sequence[tf.Tensor],
    ) -> None:
        """Runs the counting part for each replica in turn."""
        count = 1 if self._stage.first_replica_only else self._strategy.num_replicas_in_sync
        parts = [self._strategy.experimental_local_results(values[ref]) for ref in cut.inputs]
        with tf.device(host_device()):

            def run(*replica: tf.Tensor) -> Any:
                values_of_refs = {
                    **self._resources.handles(lifted.input_refs),
                    **dict.fromkeys(cut.checks, tf.constant(True)),
                    **dict(zip(cut.inputs, replica)),
                    **dict(zip(self._fed, fed)),
                }
                lifted(values_of_refs, lambda sums: [value for value, _ in sums], rng_step=rng_step)
                return tf.constant(True)

            run = tf.function(run, autograph=False) if count > 1 else run  # one body for all
            for i in range(count):
                run(*(part[i] for part in parts))


def _check_counted_once(cut: StateCut, names: Sequence[str]) -> None:
    """Checks that the replicas compute nothing of what the host counts.

    Raises:
      NotImplementedError: they do, because a hook fetches it.
    """
    twice = sorted(cut.nodes.intersection(names))
    if twice:
        raise NotImplementedError(
            f"A hook fetches {twice[-1]!r} in an evaluation on cores, which belongs to a metric of "
            "eval_metric_ops: the host updates metrics after each step, and a fetch would count "
            "the examples twice. Let the hook fetch what the metric is computed from, or read the "
            "results of evaluate()."
        )
