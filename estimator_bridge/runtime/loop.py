"""The step of a traced graph on every replica, and many steps in one call."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.graph import Lifted, LiftedSession, Snapshot, host_device
from estimator_bridge.runtime.replicas import (
    gather,
    join_replicas,
    mean_over_replicas,
    replica_id,
    split_batch,
)
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["HostStage", "LoopResult", "StepLoop"]

_NO_LIMIT = (1 << 63) - 1


@dataclasses.dataclass(frozen=True)
class HostStage:
    """What the host computes after each step from what the replicas gathered.

    Attributes:
      inputs: for each placeholder that the host's operations read, the tensor of the step whose
        per-replica values are concatenated into it.
      operations: what to run, '^name' each.
    """

    inputs: dict[str, str]
    operations: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class LoopResult:
    """What a call of a loop did.

    Attributes:
      steps: how many steps ran.
      input_ended: whether the input had no batch for the next one.
      loss: the last step's, averaged over the replicas; None where no step ran or no loss is
        watched.
      fetched: the extra fetches of the last step: for each, a tuple with each replica's value.
    """

    steps: int
    input_ended: bool
    loss: float | None
    fetched: list


class StepLoop:
    """Steps of a traced graph, compiled.

    The input's end is seen before a step starts, so no step runs without its batch and none is
    counted that did not run.

    Args:
      session: of the traced graph; owns the variables.
      strategy: runs the replicas.
      inputs: the graph's tensors that a batch's flat components stand for, in their order.
      operations: what a step runs, '^name' each.
      loss: the scalar to watch; a NaN in it ends the loop after that step.
      fetches: further tensors whose last values are returned. A loop with fetches runs one step
        a call.
      host: what the host does after each step.
      axes: see ``split_batch``.
      limit_variable: an integer variable (the global step); the loop ends when it has reached
        the limit of the call.
    """

    def __init__(
        self,
        session: LiftedSession,
        strategy: tf.distribute.Strategy,
        inputs: Sequence[str],
        operations: Sequence[str],
        loss: str | None = None,
        fetches: Sequence[str] = (),
        host: HostStage | None = None,
        axes: Sequence[int | None] | None = None,
        limit_variable: str | None = None,
    ):
        self._strategy = strategy
        self._resources = session.resources
        self._inputs = list(inputs)
        self._axes = axes
        self._fetches = list(fetches)
        self._host = host
        self._limit_variable = limit_variable
        self._has_loss = loss is not None
        self._gathered = list(dict.fromkeys(host.inputs.values())) if host else []
        wanted = [*([loss] if loss else []), *self._fetches, *self._gathered]
        self._tensors = list(dict.fromkeys(wanted))
        snapshot, owners = Snapshot.of(session.graph), self._resources.owners
        handles = {f"{name}:0" for name in owners}
        self._step = Lifted(
            snapshot, [*self._tensors, *operations], handles | set(inputs), owners
        )
        self._resources.prepare(self._step.given)
        self._host_step = None
        if host:
            self._host_step = Lifted(
                snapshot, host.operations, handles | set(host.inputs), owners
            )
            self._resources.prepare(self._host_step.given)
        self._loss = loss
        self._fetched_tensors = [session.graph.get_tensor_by_name(ref) for ref in self._fetches]
        function = self._one_step if self._fetches else self._many_steps
        self._function = tf.function(function, autograph=False)

    def __call__(
        self, iterator, steps: int = 1, draw: int = 0, limit: int | None = None
    ) -> LoopResult:
        """Runs up to ``steps`` steps.

        Args:
          iterator: of an eager dataset of host batches.
          steps: at most so many.
          draw: how many steps were run before, the position in the random streams.
          limit: the value of the limit variable at which to end.
        """
        with eager_mode(), tf.device(host_device()):
            done, ended, loss, fetched = self._function(
                iterator,
                tf.constant(steps, tf.int64),
                tf.constant(draw, tf.int64),
                tf.constant(_NO_LIMIT if limit is None else limit, tf.int64),
            )
            count = int(done)
            watched = float(loss) if count and self._has_loss else None
            return LoopResult(count, bool(ended), watched, fetched)

    def _many_steps(self, iterator, steps, draw, limit):
        def go_on(done, ended, loss):
            more = (done < steps) & ~ended & ~tf.math.is_nan(loss)
            return more & self._below(limit)

        def body(done, ended, loss):
            batch = iterator.get_next_as_optional()

            def step():
                values = self._run(batch.get_value(), draw + done)
                new_loss = self._mean_loss(values) if self._has_loss else loss
                return done + 1, ended, new_loss

            return tf.cond(batch.has_value(), step, lambda: (done, tf.constant(True), loss))

        start = (tf.constant(0, tf.int64), tf.constant(False), tf.constant(0.0))
        return (*tf.while_loop(go_on, body, start), [])

    def _one_step(self, iterator, steps, draw, limit):
        del steps, limit
        batch = iterator.get_next_as_optional()

        def step():
            values = self._run(batch.get_value(), draw)
            loss = self._mean_loss(values) if self._has_loss else tf.constant(0.0)
            local = self._strategy.experimental_local_results
            fetched = [tuple(local(values[ref])) for ref in self._fetches]
            return tf.constant(1, tf.int64), tf.constant(False), loss, fetched

        def no_step():
            nothing = [(_empty(t),) * self._replicas for t in self._fetched_tensors]
            return tf.constant(0, tf.int64), tf.constant(True), tf.constant(0.0), nothing

        return tf.cond(batch.has_value(), step, no_step)

    @property
    def _replicas(self) -> int:
        return self._strategy.num_replicas_in_sync

    def _run(self, batch, draw) -> dict:
        """One step: per-replica values of the wanted tensors."""
        flat = tf.nest.flatten(batch, expand_composites=True)
        parts = split_batch(flat, self._replicas, self._axes) if self._replicas > 1 else flat

        def on_replica(*components):
            values = self._resources.handles(self._step.given)
            values.update(zip(self._inputs, components))
            results = self._step(values, join_replicas, replica_id(), draw)
            return [tf.identity(result) for result in results[: len(self._tensors)]]

        results = self._strategy.run(
            tf.autograph.experimental.do_not_convert(on_replica), args=tuple(parts)
        )
        values = dict(zip(self._tensors, results))
        if self._host_step:
            self._run_host(values, draw)
        return values

    def _run_host(self, values: dict, draw) -> None:
        with tf.device(host_device()):
            gathered = {ref: gather(self._strategy, values[ref]) for ref in self._gathered}
            given = self._resources.handles(self._host_step.given)
            given.update({p: gathered[ref] for p, ref in self._host.inputs.items()})
            self._host_step(given, lambda sums: [value for value, _ in sums], draw=draw)

    def _mean_loss(self, values: dict) -> tf.Tensor:
        return mean_over_replicas(self._strategy, values[self._loss])

    def _below(self, limit):
        if self._limit_variable is None:
            return True
        variable = self._resources.first_copy(self._limit_variable)
        return tf.cast(variable.read_value(), tf.int64) < limit


def _empty(tensor: tf.Tensor) -> tf.Tensor:
    """A value of the tensor's type, for the branch in which there is no step."""
    shape = [size or 0 for size in (tensor.shape.as_list() if tensor.shape.rank else [])]
    return tf.fill(shape, "") if tensor.dtype == tf.string else tf.zeros(shape, tensor.dtype)
