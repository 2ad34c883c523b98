"""Many steps of a traced graph, on JAX's devices: what ``StepLoop`` is for TensorFlow."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for import LoweredStep
from estimator_bridge.errors import NotOnJaxError
from estimator_bridge.graph import REPLICA_ID, LiftedSession, Snapshot, host_device, with_user_line
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.runtime.loop_result import LoopResult
from estimator_bridge.runtime.on_jax.block_reader import BlockReader, ReadBlock
from estimator_bridge.runtime.on_jax.host_steps import HostSteps
from estimator_bridge.runtime.on_jax.program import Results, StepsProgram, StepsShape, with_x64
from estimator_bridge.runtime.on_jax.refusals import check_step
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.on_jax.values import JaxValues
from estimator_bridge.runtime.session_state import NeededParts, SessionRunCounter
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_fetches import StepFetches
from estimator_bridge.runtime.step_values import BatchLayout, LoopRequest, Step
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["JaxLoop"]

_MOST_STEPS = 256  # of a block
_MOST_BYTES = 64 << 20  # of a block's batches, and of what its steps return


class JaxLoop:
    """Steps that JAX runs; called like a ``StepLoop``, with the same arguments and results.

    TensorFlow reads the batches of a block of steps; then one JAX program runs these steps on all
    replicas. While it runs, the next block is read. The host's part of each step follows.

    Args:
      session: the session of the traced graph; owns the variables.
      strategy: the replicas.
      step: the step to run.
      layout: the layout of a batch over the replicas.
      request: the results wanted of the loop.

    Raises:
      NotOnJaxError: the step needs what JAX's steps do not have.
      NotCompilableError: XLA lacks one of its operations.

    Attributes: see ``StepLoop``.
    """

    is_in_blocks = False

    def __init__(
        self,
        session: LiftedSession,
        strategy: JaxStrategy,
        step: Step,
        layout: BatchLayout,
        request: LoopRequest,
    ):
        self._session, self._strategy, self.request = session, strategy, request
        self._layout, self._loss, self._counter = layout, step.loss, step.counter
        of_host = step.host.inputs if step.host else {}
        operations = [*step.operations, *(f"^{name}" for name in request.sums)]
        base = [*operations, *([step.loss] if step.loss else []), *of_host.values()]
        self._parts = NeededParts(session, base, request.fetches, request.fed)
        self.draws_more = self._parts.are_more
        inputs = self._parts.refs(step.inputs)
        given = {*inputs, *of_host, *request.fed, REPLICA_ID}
        self._fetches = StepFetches(session, request.fetches, base, given)
        self.has_effects = self._fetches.has_effects
        self._run = run = ReplicaStep(
            session,
            strategy,
            dataclasses.replace(
                step, inputs=inputs, operations=[*operations, *self._fetches.operations]
            ),
            layout,
            dataclasses.replace(
                request,
                fetches=[ref for ref in self._fetches.needs if ref not in of_host],
                sums=(),
            ),
        )
        self.sums = frozenset(run.sums)
        check_step(run, session, strategy)
        nodes = [*run.names, *run.host_names]
        self._is_counted = step.counter is None or counts_up(
            Snapshot.of(session.graph), nodes, step.counter
        )
        self._host = HostSteps(run.host, step.host, self._fetches, strategy, session, request)
        is_one = strategy.num_replicas_in_sync == 1
        self._beside = (
            SessionRunCounter(session, run.random_names) if is_one and run.random_names else None
        )
        self._reader = BlockReader(layout, run.used_inputs)
        self._values = _values_of(session, strategy)
        self._sizes: list[int] = []  # of the blocks for which the program is compiled

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
            self._run.check_ready()
            self._run.begin_loop((rng_step if start is None else start) + beside)
            with with_x64():
                result = self._steps(iterator, steps, rng_step + beside, limit, fed)
            self._session.random.steps = rng_step + result.steps
            return result
        except tf.errors.OpError as error:
            raise with_user_line(error, self._session.graph) from None

    @property
    def names(self) -> list[str]:
        """The traced graph's nodes that a replica computes in a step."""
        return self._run.names

    @property
    def variables(self) -> set[str]:
        """The variables that a replica uses in a step."""
        return self._run.variables

    def check_compiles(self, for_tpu: bool = False, allowed: Collection[str] = ()) -> None:
        """Checks that XLA would compile the step: see ``StepLowering.check``."""
        self._run.check_ready()
        with eager_mode(), tf.device(host_device()):
            self._run.lowering_of_used.check(for_tpu, allowed)

    def check_blocks(self) -> None:
        """Returns: steps are compiled one by one or many at once alike."""

    def lower(self, replicas: int, has_values: bool = True) -> LoweredStep:
        """Lowers a replica's part of the step for a TPU's compiler: see ``StepLowering.lower``."""
        with eager_mode(), tf.device(host_device()):
            return self._run.lowering.lower(replicas, has_values)

    def _steps(
        self,
        iterator: Any,
        steps: int,
        position: int,
        limit: int | None,
        fed: Sequence[np.ndarray],
    ) -> LoopResult:
        resources = self._session.resources
        most, in_block = self._most(steps, limit), self._steps_of_block
        results, done, block = [self._program.start()], 0, None
        outputs: list[list[Any]] = []
        self._host.begin()
        while done < most:
            wanted = min(in_block, most - done)
            block = self._reader(iterator, wanted)
            if block.count:
                result = self._dispatch(block, position + done, results[-1], fed)
                results.append(result)
                if self._host.is_needed:
                    each = [np.asarray(rows) for rows in result.each]
                    outputs += self._host(each, int(result.steps), position + done, fed)
            done += block.count
            if block.count < wanted or self._is_nan(results[-2:-1]):
                break
            if not self._is_counted:
                most = min(most, done + self._most(steps - done, limit))
        ran = sum(int(result.steps) for result in results)
        loss = float(results[-1].loss) if ran and self._loss else None
        is_whole = ran == done
        ended = bool(block and is_whole and block.ended)
        value = self._values.number(self._counter, resources) if self._counter else None
        fetched = None
        if ran == steps:
            last = [np.asarray(one.addressable_data(0))[0] for one in results[-1].last]
            fetched = dict(zip(self._fetches.refs, self._host.fetched(last) if ran else []))
        return LoopResult(
            steps=ran,
            input_ended=ended,
            loss=loss,
            fetched=fetched,
            short_batch=block.short_batch if block and is_whole else None,
            limit_value=value,
            outputs=outputs,
        )

    def _is_nan(self, results: Sequence[Results]) -> bool:
        """Returns whether the loss before the block that runs is NaN, which ended the steps."""
        return bool(self._loss) and any(math.isnan(result.loss) for result in results)

    def _most(self, steps: int, limit: int | None) -> int:
        """Returns how many steps the counter leaves to run."""
        if self._counter is None or limit is None:
            return steps
        return min(steps, limit - self._values.number(self._counter, self._session.resources))

    @functools.cached_property
    def _steps_of_block(self) -> int:
        """The largest number of steps for which batches are read at once."""
        if not self._is_counted or self._host.uses_any(self._run.updates):
            return 1
        replicas = self._strategy.num_replicas_in_sync
        size = sum(
            math.prod(spec.shape.as_list()) * spec.dtype.size * replicas
            for spec in self._run.used_specs
        )
        size += sum(
            math.prod(self._program.output_shape(i)) * 8 * replicas for i in self._shape.each
        )
        return min(max(_MOST_BYTES // max(size, 1), 1), _MOST_STEPS)

    def _dispatch(
        self, block: ReadBlock, position: int, before: Results, fed: Sequence[np.ndarray]
    ) -> Results:
        """Starts the steps of a block."""
        program, size = self._program, self._padded(block.count)
        parts = [_with_rows(part, size) for part in block.parts]

        def step(fixed: Sequence[Any], updated: Sequence[Any]) -> Any:
            return program((block.count, size), position, before, parts, fed, fixed, updated)

        return self._values.run(step, program.fixed, program.updated, self._session.resources)

    def _padded(self, count: int) -> int:
        """Returns the size of a block: one of those already compiled, or a power of two."""
        fitting = [size for size in self._sizes if count <= size <= max(4 * count, 1)]
        if fitting:
            return min(fitting)
        self._sizes.append(1 << (count - 1).bit_length())
        return self._sizes[-1]

    @functools.cached_property
    def _shape(self) -> StepsShape:
        index = {ref: i for i, ref in enumerate(self._run.tensors)}
        axes = self._layout.axes
        used = self._run.used_inputs
        return StepsShape(
            loss=index[self._loss] if self._loss else None,
            last=[index[ref] for ref in self._host.last],
            each=[index[ref] for ref in self._host.each],
            axes=[0 if axes is None else axes[i] for i in used],
            fed=len(self.request.fed),
            is_random=self._run.is_random,
        )

    @functools.cached_property
    def _program(self) -> StepsProgram:
        run, replicas = self._run, self._strategy.num_replicas_in_sync
        with eager_mode(), tf.device(host_device()):
            lowered = run.lowering_of_used.lower(replicas, False, run.updates)
        return StepsProgram(
            lowered, run.updates, self._shape, len(run.tensors), self._strategy.jax_devices
        )


def _with_rows(part: np.ndarray, size: int) -> np.ndarray:
    """Returns an array with rows added, of any content, up to a size."""
    if len(part) == size:
        return part
    padded = np.zeros((size, *part.shape[1:]), part.dtype)
    padded[: len(part)] = part
    return padded


def _values_of(session: LiftedSession, strategy: JaxStrategy) -> JaxValues:
    """Returns the values on the devices, which all loops of a model share."""
    values = session.resources.on_device
    if values is None:
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(strategy.jax_devices), ("replicas",))
        values = JaxValues(NamedSharding(mesh, PartitionSpec()))
        session.resources.keep_on(values)
    if not isinstance(values, JaxValues):
        raise NotOnJaxError(f"The variables are on the devices of {type(values).__name__}.")
    return values
