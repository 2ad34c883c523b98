"""Many steps of a traced graph, on every replica, in one call."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for import LoweredStep
from estimator_bridge.graph import LiftedSession, host_device, with_user_line
from estimator_bridge.runtime.block_body import BlockBody, may_be_blocks
from estimator_bridge.runtime.loop_body import LoopBody
from estimator_bridge.runtime.many_steps import ManySteps
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.prepared_step import WatchedStep, prepare_step
from estimator_bridge.runtime.replicas import SPLIT_EVENLY, BatchLayout
from estimator_bridge.runtime.sent_batches import sends_batches
from estimator_bridge.runtime.single_step import SingleStep
from estimator_bridge.runtime.step_values import FETCHES_NOTHING, LoopRequest, LoopResult, Step
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["StepLoop", "alone", "is_on_jax", "step_loop"]

# The calls of a single step that a loop of compiled blocks runs, before it compiles the step alone.
_SINGLES_IN_BLOCKS = 8


class StepLoop:
    """Steps of a traced graph, compiled into one function.

    The input's end is seen before a step starts, so no step runs without its batch and none is
    counted that did not run.

    Args:
      session: the session of the traced graph; owns the variables.
      strategy: runs the replicas.
      step: the step to run.
      layout: the layout of a batch over the replicas.
      request: the results wanted of the loop.

    Raises:
      NotCompilableError: see ``ReplicaStep``.

    Attributes:
      request: as given.
      has_effects: whether the fetches change state.
      draws_more: whether the fetches need parts of the input that a step without them leaves alone:
        then, too, they are for calls of one step only.
      sums: the CrossReplicaSum nodes that a step computes.
      needs: nothing: processes whose steps are one program agree on these.
    """

    needs: Sequence[str] = ()

    def __init__(
        self,
        session: LiftedSession,
        strategy: tf.distribute.Strategy,
        step: Step,
        layout: BatchLayout = SPLIT_EVENLY,
        request: LoopRequest = FETCHES_NOTHING,
    ):
        self._session, self.request = session, request
        dealt = layout
        if sends_batches(strategy, layout):  # a step gets the parts that a SentBatchSource deals
            dealt = dataclasses.replace(layout, elements=strategy.num_replicas_in_sync)
        setup = prepare_step(session, strategy, step, dealt, request)
        run, is_counted = setup.run, setup.is_counted
        self._parts, self._session_run_counter = setup.parts, setup.session_run_counter
        self.draws_more, self.has_effects = self._parts.are_more, setup.fetches.has_effects
        self.sums = frozenset(run.sums)
        self._step = WatchedStep(
            run, setup.fetches, strategy, session.resources, step.loss, step.counter
        )
        outputs = request.outputs
        one_by_one = LoopBody(self._step, is_counted, layout.full_batch, session.graph, outputs)
        body: LoopBody | BlockBody = one_by_one
        is_known = is_counted or step.counter is None  # how many steps a call runs
        if is_known and may_be_blocks(self._step, layout, request, session.graph):
            body = BlockBody(self._step)
        fed = [_spec_of(session.graph.get_tensor_by_name(ref)) for ref in request.fed]
        self._many = ManySteps(self._step, body, one_by_one, layout, fed, outputs)
        is_one = strategy.num_replicas_in_sync == 1
        may_be_single = is_one and layout.full_batch is None and not layout.hosts
        single_runs_in_blocks = _SINGLES_IN_BLOCKS if self.is_in_blocks else 0
        self._single = SingleStep(self._step, fed, single_runs_in_blocks) if may_be_single else None

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
        """Runs up to ``steps`` steps.

        Args:
          iterator: an iterator of an eager dataset of host batches.
          steps: the largest number of steps.
          rng_step: the number of earlier steps, which is the position in the random streams.
          limit: the value of the limit variable at which to end; looked at before each step but
            a call's first on one replica, which runs without a loop where it is the only one.
          fed: the values of the references that are fed, in their order.
          start: the position at which the loop started that this call ends; by default
            ``rng_step``.
          singly: whether many calls run a single step: then a separate, faster function pays off;
            else the step runs in the loop, which is compiled in any case.
        """
        if self._parts.are_chosen:
            iterator = self._parts.of(iterator)
        counter = self._session_run_counter
        session_runs = counter.count() if counter else 0
        try:
            self._step.run.begin_loop((rng_step if start is None else start) + session_runs)
            values = self._fed_values(fed) if fed else ()
            if steps == 1 and singly and self._single and self._single.takes_next():
                result = self._single(iterator, rng_step + session_runs, values)
            else:
                result = self._many(
                    iterator, steps, rng_step + session_runs, limit, values, self._is_in_order
                )
            self._session.random.steps = rng_step + result.steps
            return result
        except tf.errors.OpError as error:
            raise with_user_line(error, self._session.graph) from None

    def is_compiled_for(self, iterator: Any) -> bool:
        """Whether the next single step of this iterator surely compiles nothing."""
        if self._single is None:
            return False
        if self._parts.are_chosen:
            iterator = self._parts.of(iterator)
        return self._single.is_compiled_for(iterator)

    @property
    def is_in_blocks(self) -> bool:
        """Whether XLA compiles several steps as one function."""
        return self._many.are_in_blocks

    @property
    def names(self) -> list[str]:
        """The traced graph's nodes that a replica computes in a step."""
        return self._step.run.names

    @property
    def variables(self) -> set[str]:
        """The variables that a replica uses in a step."""
        return self._step.run.variables

    def check_compiles(self, for_tpu: bool = False, exempt_ops: Collection[str] = ()) -> None:
        """Checks that XLA would compile the step: see ``StepLowering.check``."""
        self._step.run.check_ready()
        with eager_mode(), tf.device(host_device()):
            self._step.run.lowering.check(for_tpu, exempt_ops)

    def check_blocks(self) -> None:
        """Checks that XLA would compile several steps as one, if they are to be.

        Raises:
          NotCompilableError: it would not.
        """
        self._step.run.check_ready()
        with eager_mode(), tf.device(host_device()):
            self._many.check_blocks()

    def lower(
        self, replicas: int, has_values: bool = True, steps: int | None = None
    ) -> LoweredStep:
        """Lowers a replica's part of the step for a TPU's compiler: see ``StepLowering.lower``."""
        del steps  # whose loop is not lowered
        if has_values:
            self._step.run.check_ready()
        with eager_mode(), tf.device(host_device()):
            return self._step.run.lowering.lower(replicas, has_values)

    def traced(self, iterator: Any) -> tf.Graph:
        """Returns the graph of the loop for an iterator of this kind; nothing runs."""
        return self._many.function(iterator, self._is_in_order)[0].graph

    @property
    def _is_in_order(self) -> bool:
        source = self._session.input
        return source is not None and source.is_in_order

    def _fed_values(self, fed: Sequence[np.ndarray]) -> list[tf.Tensor]:
        with eager_mode(), tf.device(host_device()):
            specs = self._many.fed
            return [tf.convert_to_tensor(v, spec.dtype) for v, spec in zip(fed, specs)]


def _spec_of(tensor: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(tensor.shape, tensor.dtype)


def is_on_jax(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether JAX runs the steps of the strategy's replicas."""
    return isinstance(strategy, JaxStrategy)


def alone(strategy: tf.distribute.Strategy) -> tf.distribute.Strategy:
    """Returns the strategy of an evaluation or a prediction, which each process makes by itself.

    Several processes that run steps on JAX train together. Other strategies are returned.
    """
    return strategy.alone if isinstance(strategy, JaxStrategy) else strategy


def step_loop(
    session: LiftedSession,
    strategy: tf.distribute.Strategy,
    step: Step,
    layout: BatchLayout,
    request: LoopRequest,
) -> Any:
    """Returns the loop of a step in the strategy's runtime; see ``StepLoop`` for the arguments."""
    if isinstance(strategy, JaxStrategy):
        from estimator_bridge.runtime.on_jax.loop import JaxLoop  # JAX is loaded for it alone

        return JaxLoop(session, strategy, step, layout, request)
    return StepLoop(session, strategy, step, layout, request)
