"""Many steps of a traced graph, on every replica, in one call."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for import LoweredStep
from estimator_bridge.graph import (
    REPLICA_ID,
    DividedIterators,
    LiftedSession,
    Snapshot,
    host_device,
    with_user_line,
)
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.graph.far_files import read_by
from estimator_bridge.runtime.compiled_loop import CompiledLoop
from estimator_bridge.runtime.draws import draws_of
from estimator_bridge.runtime.hosts import Host
from estimator_bridge.runtime.loop_body import LoopBody
from estimator_bridge.runtime.loop_result import LoopResult
from estimator_bridge.runtime.single_step import SingleStep
from estimator_bridge.runtime.step import HostStage, ReplicaStep
from estimator_bridge.runtime.step_fetches import StepFetches
from estimator_bridge.runtime.step_outputs import StepOutputs
from estimator_bridge.runtime.watched_step import WatchedStep
from estimator_bridge.runtime.workers import workers_of
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["StepLoop"]

_NO_LIMIT = (1 << 63) - 1
_NUMBERS_KEPT = 16


class StepLoop:
    """Steps of a traced graph, compiled into one function.

    The input's end is seen before a step starts, so no step runs without its batch and none is
    counted that did not run.

    Args:
      session: of the traced graph; owns the variables.
      strategy: runs the replicas.
      inputs: the graph's tensors that a batch's flat components stand for, in their order.
      operations: what a step runs, '^name' each.
      loss: the scalar to watch; a NaN in it ends the loop after that step.
      fetches: further references, computed in the last step of a call. Those that change state
        (``has_effects``) may be asked for in calls of one step only.
      host: what the host does after each step.
      axes: see ``split_batch``.
      limit_variable: an integer variable (the global step); the loop ends when it has reached
        the limit of the call.
      full_batch: for an input whose elements are (size, padded batch): the loop ends before a
        batch of another size and hands it back.
      fed: references whose values each call supplies, for all its steps and replicas.
      elements: where each replica takes elements of the input of its own: how many replicas this
        process has. By default an element is a host's batch, to be split over the replicas.
      hosts: where other machines feed the replicas: who feeds which. A call's iterator is a
        ``HostIterators`` then, in that order.
      partitions: see ``ReplicaStep``.
      sums: CrossReplicaSum nodes to compute in any case, as hooks of another worker fetch them.
      jit_compile: see ``ReplicaStep``.
      draws_alike: see ``ReplicaStep``.
      outputs: keeps the fetches of each step, which a call returns as ``outputs`` then.

    Raises:
      NotCompilableError: see ``ReplicaStep``.

    Attributes:
      fetches: as given.
      fed: as given.
      has_effects: whether the fetches change state.
      draws_more: whether the fetches need parts of the input that a step without them leaves alone:
        then, too, they are for calls of one step only.
      sums: the CrossReplicaSum nodes that a step computes.
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
        full_batch: int | None = None,
        fed: Sequence[str] = (),
        elements: int | None = None,
        hosts: Sequence[Host] | None = None,
        partitions: Sequence[Sequence[int] | None] | None = None,
        sums: Iterable[str] = (),
        jit_compile: bool = False,
        draws_alike: bool = False,
        outputs: StepOutputs | None = None,
    ):
        self._session, self._graph, self._hosts = session, session.graph, hosts or ()
        self._elements, self._full_batch = elements or 1, full_batch
        self.fed = tuple(fed)
        of_host = host.inputs if host else {}
        operations = [*operations, *(f"^{name}" for name in sums)]
        base = [*operations, *([loss] if loss else []), *of_host.values()]
        self._drawn, self.draws_more = _parts_drawn(session, base, fetches, fed)
        if self._drawn is not None and session.input is not None:
            inputs = session.input.refs_given(self._drawn)
        wanted = StepFetches(session, fetches, base, {*inputs, *of_host, *fed, REPLICA_ID})
        self.fetches, self.has_effects = wanted.fetches, wanted.has_effects
        tensors = [*([loss] if loss else []), *(r for r in wanted.needs if r not in of_host)]
        run = ReplicaStep(
            session, strategy, inputs, [*operations, *wanted.operations], tensors, host, axes, fed,
            elements, hosts, partitions, jit_compile, draws_alike,
        )  # fmt: skip
        self.sums = frozenset(run.sums)
        self._run = run
        self._step = WatchedStep(run, wanted, strategy, session.resources, loss, limit_variable)
        self._body = LoopBody(
            self._step,
            counts_up=limit_variable is not None
            and counts_up(Snapshot.of(self._graph), [*run.names, *run.host_names], limit_variable),
            full_batch=full_batch,
            workers=workers_of(strategy),
            graph=self._graph,
            outputs=outputs,
        )
        self._outputs = outputs
        self._fed_specs = [_spec_of(self._graph.get_tensor_by_name(ref)) for ref in fed]
        self._compiled: list[tuple[object, CompiledLoop]] = []  # by what elements are like
        # Which loop an iterator has, and what that takes in its place.
        self._bound: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._hands_back = bool(hosts or self._elements > 1 or full_batch is not None)
        self._needed: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        # Runs of the session beside the steps, of random operations that steps have, too.
        self._counts_runs = bool(run.random_names) and strategy.num_replicas_in_sync == 1
        self._drawn_beside, self._runs_seen = 0, -1
        self._numbers: dict[int, tf.Tensor] = {}
        self._single: SingleStep | None = None
        self._may_be_single = (
            strategy.num_replicas_in_sync == 1 and full_batch is None and not hosts
        )

    def __call__(
        self,
        iterator,
        steps: int,
        draw: int = 0,
        limit: int | None = None,
        fed: Sequence[np.ndarray] = (),
        start: int | None = None,
        singly: bool = True,
    ) -> LoopResult:
        """Runs up to ``steps`` steps.

        Args:
          iterator: of an eager dataset of host batches.
          steps: at most so many.
          draw: how many steps were run before, the position in the random streams.
          limit: the value of the limit variable at which to end; looked at before each step but
            a call's first on one replica, which runs without a loop where it is the only one.
          fed: the values of the references that are fed, in their order.
          start: the position at which the loop started that this call ends; by default it is one
            of its own.
          singly: whether a single step is one of many: then it is worth a function of its own, a
            quicker one; else it runs in the loop, which is compiled in any case.
        """
        if self._drawn is not None:
            iterator = self._needed_of(iterator)
        beside = self._runs_beside() if self._counts_runs else 0
        try:
            self._run.begin_loop((draw if start is None else start) + beside)
            if steps == 1 and singly and self._may_be_single:
                if self._single is None or not self._single.is_of(iterator):
                    self._single = SingleStep(self._step, iterator, self._fed_specs)
                result = self._single(draw + beside, self._fed_values(fed))
            else:
                result = self._call_many(iterator, steps, draw + beside, limit, fed)
            self._session.steps_run = draw + result.steps
            return result
        except tf.errors.OpError as error:
            raise with_user_line(error, self._graph) from None

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
            self._run.lowering.check(for_tpu, allowed)

    def lower(self, replicas: int, has_values: bool = True) -> LoweredStep:
        """A replica's part of the step for a TPU's compiler: see ``StepLowering.lower``."""
        if has_values:
            self._run.check_ready()
        with eager_mode(), tf.device(host_device()):
            return self._run.lowering.lower(replicas, has_values)

    def traced(self, iterator) -> tf.Graph:
        """The graph of the loop for an iterator of this kind; nothing runs."""
        return self._function(iterator)[0].graph

    def _call_many(self, iterator, steps: int, draw: int, limit: int | None, fed) -> LoopResult:
        self._run.check_ready()
        function, drawn_from = self._function(iterator)
        numbers = steps, draw if self._run.is_random else 0, _NO_LIMIT if limit is None else limit
        given = [*drawn_from, *map(self._number, numbers), *self._fed_values(fed)]
        if self._hosts:
            with read_by([host.device for host in self._hosts]):
                state = function(given)
        else:
            state = function(given)
        done, fetches = int(state["done"]), self._step.fetches.refs
        short, left_over = None, []
        if self._hands_back:
            with eager_mode(), tf.device(host_device()):
                short, left_over = _short_batch(state, iterator), _values(state["left_over"])
        return LoopResult(
            steps=done,
            input_ended=bool(state["ended"]),
            loss=float(state["loss"]) if done and self._step.loss else None,
            fetched=dict(zip(fetches, state["fetched"])) if done == steps else None,
            short_batch=short,
            limit_value=int(state["limit_value"]) if self._step.counter else None,
            left_over=left_over,
            outputs=self._outputs.read(state["outputs"], done) if self._outputs else (),
        )

    def _function(self, iterator) -> tuple[CompiledLoop, list[tf.Tensor]]:
        """The compiled loop for iterators of this kind, and what it takes in their place."""
        if iterator in self._bound:
            return self._bound[iterator]
        with eager_mode(), tf.device(host_device()):
            draws, drawn_from = draws_of(iterator, self._elements, self._full_batch)
            compiled = next((loop for key, loop in self._compiled if key == draws.key), None)
            if compiled is None:
                compiled = CompiledLoop(self._body, draws, drawn_from, self._fed_specs)
                self._compiled.append((draws.key, compiled))
        found = compiled, tf.nest.flatten(drawn_from, expand_composites=True)
        if drawn_from is iterator or isinstance(iterator, DividedIterators):
            self._bound[iterator] = found
        return found

    def _runs_beside(self) -> int:
        if self._runs_seen != self._session.random_runs:
            self._drawn_beside = self._session.drawn_beside(self._run.random_names)
            self._runs_seen = self._session.random_runs
        return self._drawn_beside

    def _needed_of(self, iterator: Any) -> Any:
        """What a step draws from, of an input in parts."""
        is_divided = isinstance(iterator, DividedIterators)
        if self._drawn and not is_divided:  # there is one part
            return iterator
        if iterator not in self._needed:
            whole = iterator if is_divided else DividedIterators.of(iterator)
            self._needed[iterator] = whole.only(self._drawn or ())
        return self._needed[iterator]

    def _number(self, value: int) -> tf.Tensor:
        """A number as a tensor, kept: to make one takes as long as a small operation."""
        if value not in self._numbers:
            if len(self._numbers) == _NUMBERS_KEPT:
                self._numbers.clear()
            with eager_mode(), tf.device(host_device()):
                self._numbers[value] = tf.constant(value, tf.int64)
        return self._numbers[value]

    def _fed_values(self, fed: Sequence[np.ndarray]) -> list[tf.Tensor]:
        if not fed:
            return []
        with eager_mode(), tf.device(host_device()):
            specs = self._fed_specs
            return [tf.convert_to_tensor(v, spec.dtype) for v, spec in zip(fed, specs)]


def _parts_drawn(
    session: LiftedSession, base: Sequence[str], fetches: Sequence[str], fed: Sequence[str]
) -> tuple[frozenset[int] | None, bool]:
    """The parts of the input that a step draws, and whether the fetches add to them.

    None where a step draws all in any case.
    """
    source = session.input
    if source is None or not source.divides:
        return None, False
    snapshot = Snapshot.of(session.graph)
    drawn = source.drawn_by(snapshot, base, fed) | source.endless
    more = source.drawn_by(snapshot, fetches, fed) if fetches else frozenset()
    return drawn | more, not drawn.issuperset(more)


def _short_batch(state: dict[str, Any], iterator: Any) -> list | None:
    """The flat components of a batch for which no step ran; None where there is none."""
    if "ahead" in state:  # of several hosts, each with its size, and perhaps padded
        iterator.ahead = state["ahead"].numpy().tolist()
        if not state["is_short"]:
            return None
        parts = [[p[: int(size)] for p in tf.nest.flatten(batch)] for size, batch in next(iterator)]
        return [tf.concat(of_hosts, axis=0) for of_hosts in zip(*parts)]
    size = int(state.get("short_size", 0))
    return [part[:size] for part in state["short_batch"]] if size else None


def _values(optionals: Sequence[Any]) -> list[list]:
    """The flat components of the optionals that have a value."""
    return [
        tf.nest.flatten(optional.get_value(), expand_composites=True)
        for optional in optionals
        if optional.has_value()
    ]


def _spec_of(tensor: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(tensor.shape, tensor.dtype)
