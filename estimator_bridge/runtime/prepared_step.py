"""A step of a traced graph as the loops of both runtimes start from it, and as they watch it."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import REPLICA_ID, DividedIterators, LiftedSession, Snapshot
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.graph.resources import Resources
from estimator_bridge.runtime.replicas import BatchLayout, mean_over_replicas
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_fetches import StepFetches
from estimator_bridge.runtime.step_values import LoopRequest, Step

__all__ = ["PreparedStep", "WatchedStep", "prepare_step"]


class NeededParts:
    """The parts of the input that a step draws; a session draws from the others by itself.

    Args:
      session: the session of the traced graph; knows its input.
      base: references that a step computes in any case.
      fetches: references that it computes additionally.
      fed: references whose values calls supply; no part is drawn for them.

    Attributes:
      are_more: whether the fetches need parts that a step without them leaves alone.
    """

    def __init__(
        self,
        session: LiftedSession,
        base: Sequence[str],
        fetches: Sequence[str],
        fed: Sequence[str],
    ):
        source, self.are_more = session.input, False
        self._refs: Sequence[str] | None = None
        self._parts: frozenset[int] | None = None  # None: a step draws all in any case
        self._iterators: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        if source is not None and source.divides:
            snapshot = Snapshot.of(session.graph)
            parts = source.drawn_by(snapshot, base, fed) | source.endless
            more = source.drawn_by(snapshot, fetches, fed) if fetches else frozenset()
            self._parts, self.are_more = parts | more, not parts.issuperset(more)
            # The source itself, which holds an iterator's dataset, is not kept with the loop.
            self._refs = source.refs_of_parts(self._parts)

    @property
    def are_chosen(self) -> bool:
        """Whether a step may leave parts alone."""
        return self._parts is not None

    def refs(self, inputs: Sequence[str]) -> Sequence[str]:
        """Returns the references of the flat components of a step's elements.

        Args:
          inputs: the references if a step draws all parts.
        """
        return inputs if self._refs is None else self._refs

    def of(self, iterator: Any) -> Any:
        """Returns the iterator that a step draws from: of the parts that it needs."""
        parts = self._parts or frozenset()
        if isinstance(iterator, tf.data.Iterator) and 0 in parts:  # its only part
            return iterator
        if iterator not in self._iterators:
            whole = DividedIterators.of(iterator)
            # All parts is None: a value that refers to its key would keep both alive.
            self._iterators[iterator] = (
                None if parts.issuperset(whole.part_numbers) else whole.only(parts)
            )
        part_iterator = self._iterators[iterator]
        return iterator if part_iterator is None else part_iterator


class SessionRunCounter:
    """Counts session runs between the steps of random operations that steps have too.

    Args:
      session: the session of the traced graph.
      random_names: the random operations of a step.
    """

    def __init__(self, session: LiftedSession, random_names: Sequence[str]):
        self._random, self._names = session.random, random_names
        self._drawn_beside, self._runs_seen = 0, -1

    def count(self) -> int:
        """Returns the number of such runs."""
        if self._runs_seen != self._random.runs:
            self._drawn_beside = self._random.drawn_beside(self._names)
            self._runs_seen = self._random.runs
        return self._drawn_beside


@dataclasses.dataclass(frozen=True)
class PreparedStep:
    """A replica's part of a step, with what a loop does beside it.

    Attributes:
      parts: the parts of the input that the step draws.
      fetches: the results of the last step.
      needs: what the replicas compute for them; see ``LoopRequest.needs``.
      run: the replica's part.
      is_counted: whether the step's counter counts up by one.
      session_run_counter: counts session runs that draw from the step's random streams; None if
        none does.
    """

    parts: NeededParts
    fetches: StepFetches
    needs: Sequence[str]
    run: ReplicaStep
    is_counted: bool
    session_run_counter: SessionRunCounter | None


def prepare_step(
    session: LiftedSession,
    strategy: tf.distribute.Strategy,
    step: Step,
    layout: BatchLayout,
    request: LoopRequest,
) -> PreparedStep:
    """Lifts a step out of its graph, with what the request adds to it; see ``StepLoop``."""
    of_host = step.host.inputs if step.host else {}
    operations = [*step.operations, *(f"^{name}" for name in request.sums)]
    base = [*operations, *([step.loss] if step.loss else []), *of_host.values()]
    parts = NeededParts(session, base, [*request.fetches, *request.needs], request.fed)
    inputs = parts.refs(step.inputs)
    from_outside = {*inputs, *of_host, *request.fed, REPLICA_ID}
    fetches = StepFetches(session, request.fetches, base, from_outside, of_host)
    # The host's part returns its placeholders' values itself; the sums are operations by now. The
    # order is the same in processes whose hooks fetch the same in another one.
    needs = {ref for ref in fetches.needs if ref not in of_host} | {*fetches.operations}
    needs.update(request.needs)
    refs = sorted(ref for ref in needs if not ref.startswith("^"))
    more = sorted(ref for ref in needs if ref.startswith("^"))
    run = ReplicaStep(
        session,
        strategy,
        dataclasses.replace(step, inputs=inputs, operations=[*operations, *more]),
        layout,
        dataclasses.replace(request, fetches=refs, sums=()),
    )
    nodes = [*run.names, *run.host_names]
    counter = step.counter
    is_counted = counter is not None and counts_up(Snapshot.of(session.graph), nodes, counter)
    is_one = strategy.num_replicas_in_sync == 1
    has_streams = is_one and bool(run.random_names)
    counter_of_runs = SessionRunCounter(session, run.random_names) if has_streams else None
    return PreparedStep(parts, fetches, [*refs, *more], run, is_counted, counter_of_runs)


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
        return loss, self.fetches.take_needs(self.strategy, values)

    def read_counter(self) -> tf.Tensor:
        """Returns the current value of the counter: a scalar, int64."""
        assert self.counter is not None
        return tf.cast(self.resources.first_copy(self.counter).read_value(), tf.int64)
