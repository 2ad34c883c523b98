"""Many steps of a traced graph, on JAX's devices: what ``StepLoop`` is for TensorFlow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for import LoweredStep
from estimator_bridge.errors import NotOnJaxError
from estimator_bridge.graph import LiftedSession, with_user_line
from estimator_bridge.runtime.on_jax.blocks import Blocks
from estimator_bridge.runtime.on_jax.device_errors import explained_device_errors
from estimator_bridge.runtime.on_jax.draws import advise_on_draws
from estimator_bridge.runtime.on_jax.host_steps import HostSteps
from estimator_bridge.runtime.on_jax.program import with_x64
from estimator_bridge.runtime.on_jax.refusals import check_step
from estimator_bridge.runtime.on_jax.step import JaxStep
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.prepared_step import prepare_step
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.step_values import LoopRequest, LoopResult, Step

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
        setup = prepare_step(session, strategy, step, layout, request)
        run, fetches = setup.run, setup.fetches
        self._setup = setup
        self.draws_more, self.has_effects = setup.parts.are_more, fetches.has_effects
        self.sums, self.names = frozenset(run.sums), run.names
        check_step(run, session, strategy)
        if run.random_names and not strategy.device_draws:
            advise_on_draws(strategy.jax_name, strategy.jax_devices[0].platform)
        if self.has_effects and strategy.processes is not None:
            raise NotOnJaxError(
                f"A hook fetches an operation that changes variables ({list(request.fetches)}), "
                "and steps of several processes on JAX are one program, which has no hooks. Run "
                "the operation in each step (in model_fn's train_op), or run one process."
            )
        self._step = JaxStep(
            run,
            HostSteps(
                run.host,
                step.host,
                fetches,
                [ref for ref in setup.needs if not ref.startswith("^")],
                strategy,
                session,
                request.fed,
            ),
            session,
            strategy,
            layout,
            step.loss,
            step.counter,
            setup.is_counted or step.counter is None,
        )
        self._step.lower()  # an error says now what cannot be lowered, and not after the start
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
        if self._setup.parts.are_chosen:
            iterator = self._setup.parts.of(iterator)
        counter = self._setup.session_run_counter
        session_runs = counter.count() if counter else 0
        try:
            self._step.run.check_ready()
            self._step.run.begin_loop((rng_step if start is None else start) + session_runs)
            with explained_device_errors(self._step), with_x64():
                result = self._blocks(iterator, steps, rng_step + session_runs, limit, fed)
            self._session.random.steps = rng_step + result.steps
            return result
        except tf.errors.OpError as error:
            raise with_user_line(error, self._session.graph) from None

    def is_compiled_for(self, iterator: Any) -> bool:
        """Whether the next single step surely compiles nothing: JAX itself decides that."""
        del iterator
        return False

    @property
    def needs(self) -> Sequence[str]:
        """What the replicas compute for the fetches, of this process and of others."""
        return self._setup.needs

    @property
    def variables(self) -> set[str]:
        """The variables that a replica uses in a step."""
        return self._step.run.variables

    def check_compiles(self, for_tpu: bool = False, exempt_ops: Collection[str] = ()) -> None:
        """Does nothing: a loop is not made before XLA can compile its step."""
        del for_tpu, exempt_ops

    def lower(
        self, replicas: int, has_values: bool = True, steps: int | None = None
    ) -> LoweredStep:
        """Lowers the program that runs on JAX for a TPU's compiler.

        Args:
          replicas: the number of replicas, which is the strategy's.
          has_values: whether the variables have values, which are not used.
          steps: the number of steps of a call; None if unknown.
        """
        del replicas, has_values
        return self._step.lower_for_tpu(steps)
