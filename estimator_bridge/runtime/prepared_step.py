"""A step of a traced graph as the loops of both runtimes start from it."""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from estimator_bridge.graph import REPLICA_ID, LiftedSession, Snapshot
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.runtime.session_state import NeededParts, SessionRunCounter
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_fetches import StepFetches
from estimator_bridge.runtime.step_values import BatchLayout, LoopRequest, Step

__all__ = ["PreparedStep", "prepared_step"]


@dataclasses.dataclass(frozen=True)
class PreparedStep:
    """A replica's part of a step, with what a loop does beside it.

    Attributes:
      parts: the parts of the input that the step draws.
      fetches: the results of the last step.
      run: the replica's part.
      is_counted: whether the step's counter counts up by one.
      beside: counts session runs that draw from the step's random streams; None if none does.
    """

    parts: NeededParts
    fetches: StepFetches
    run: ReplicaStep
    is_counted: bool
    beside: SessionRunCounter | None


def prepared_step(
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
    parts = NeededParts(session, base, request.fetches, request.fed)
    inputs = parts.refs(step.inputs)
    from_outside = {*inputs, *of_host, *request.fed, REPLICA_ID}
    fetches = StepFetches(session, request.fetches, base, from_outside)
    run = ReplicaStep(
        session,
        strategy,
        dataclasses.replace(step, inputs=inputs, operations=[*operations, *fetches.operations]),
        layout,
        dataclasses.replace(
            request, fetches=[ref for ref in fetches.needs if ref not in of_host], sums=()
        ),
    )
    nodes = [*run.names, *run.host_names]
    counter = step.counter
    is_counted = counter is not None and counts_up(Snapshot.of(session.graph), nodes, counter)
    is_one = strategy.num_replicas_in_sync == 1
    has_streams = is_one and bool(run.random_names)
    beside = SessionRunCounter(session, run.random_names) if has_streams else None
    return PreparedStep(parts, fetches, run, is_counted, beside)
