"""Many steps of a traced graph, on JAX's devices: what ``StepLoop`` is for TensorFlow."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import REPLICA_ID, LiftedSession, Snapshot, with_user_line
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.runtime.loop_result import LoopResult
from estimator_bridge.runtime.on_jax.blocks import Blocks
from estimator_bridge.runtime.on_jax.host_steps import HostSteps
from estimator_bridge.runtime.on_jax.program import with_x64
from estimator_bridge.runtime.on_jax.refusals import check_step
from estimator_bridge.runtime.on_jax.step import JaxStep
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.session_state import NeededParts, SessionRunCounter
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_fetches import StepFetches
from estimator_bridge.runtime.step_values import BatchLayout, LoopRequest, Step

__all__ = ["JaxLoop"]


class JaxLoop:
    """Steps that JAX runs; called like a ``StepLoop``, with the same arguments and results.

    Args:
      session: the session of the traced graph; owns the variables.
      strategy: the replicas.
      step: the step to run.
      layout: the layout of a batch over the replicas.
      request: the results wanted of the loop, without ``outputs``.

    Raises:
      NotOnJaxError: the step needs what JAX's steps do not have.
      NotCompilableError: XLA lacks one of its operations.

    Attributes: see ``StepLoop``.
    """

    def __init__(
        self,
        session: LiftedSession,
        strategy: JaxStrategy,
        step: Step,
        layout: BatchLayout,
        request: LoopRequest,
    ):
        self._session, self.request = session, request
        of_host = step.host.inputs if step.host else {}
        operations = [*step.operations, *(f"^{name}" for name in request.sums)]
        base = [*operations, *([step.loss] if step.loss else []), *of_host.values()]
        self._parts = NeededParts(session, base, request.fetches, request.fed)
        self.draws_more = self._parts.are_more
        inputs = self._parts.refs(step.inputs)
        given = {*inputs, *of_host, *request.fed, REPLICA_ID}
        fetches = StepFetches(session, request.fetches, base, given)
        self.has_effects = fetches.has_effects
        run = ReplicaStep(
            session,
            strategy,
            dataclasses.replace(step, inputs=inputs, operations=[*operations, *fetches.operations]),
            layout,
            dataclasses.replace(
                request, fetches=[ref for ref in fetches.needs if ref not in of_host], sums=()
            ),
        )
        self.sums, self.names = frozenset(run.sums), run.names
        check_step(run, session, strategy)
        nodes = [*run.names, *run.host_names]
        self._step = JaxStep(
            run,
            HostSteps(run.host, step.host, fetches, strategy, session, request.fed),
            session,
            strategy,
            layout,
            step.loss,
            step.counter,
            step.counter is None or counts_up(Snapshot.of(session.graph), nodes, step.counter),
        )
        is_one = strategy.num_replicas_in_sync == 1
        self._beside = (
            SessionRunCounter(session, run.random_names) if is_one and run.random_names else None
        )
        self._blocks = Blocks(self._step)

    def __call__(
        self,
        iterator: Any,
        steps: int,
        rng_step: int = 0,
        limit: int | None = None,
        fed: Sequence[np.ndarray] = (),
        start: int | None = None,
        singly: bool = True,
    ) -> LoopResult:
        """Runs up to ``steps`` steps; see ``StepLoop``."""
        del singly
        if self._parts.are_chosen:
            iterator = self._parts.of(iterator)
        beside = self._beside.count() if self._beside else 0
        try:
            self._step.run.check_ready()
            self._step.run.begin_loop((rng_step if start is None else start) + beside)
            with with_x64():
                result = self._blocks(iterator, steps, rng_step + beside, limit, fed)
            self._session.random.steps = rng_step + result.steps
            return result
        except tf.errors.OpError as error:
            raise with_user_line(error, self._session.graph) from None
