"""Many steps of a traced graph, on every replica, in one call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import REPLICA_ID, LiftedSession, Snapshot, host_device, with_user_line
from estimator_bridge.graph.counters import counts_up
from estimator_bridge.graph.deferred import defer
from estimator_bridge.graph.far_files import read_by
from estimator_bridge.runtime.draws import Draws, HostDraws, draws_of
from estimator_bridge.runtime.hosts import Host
from estimator_bridge.runtime.replicas import mean_over_replicas
from estimator_bridge.runtime.step import HostStage, ReplicaStep
from estimator_bridge.runtime.step_outputs import StepOutputs
from estimator_bridge.runtime.workers import Workers, workers_of
from estimator_bridge.tensorflow_private import eager_mode, flat_call

__all__ = ["LoopResult", "StepLoop"]

_NO_LIMIT = (1 << 63) - 1
_ENDED = -1  # instead of the limit variable's value: the input had no batch for the step


class LoopResult(NamedTuple):
    """What a call of a loop did.

    Attributes:
      steps: how many steps ran.
      input_ended: whether the input had no batch for the next one.
      loss: the last step's, averaged over the replicas; None where no step ran or no loss is
        watched.
      fetched: the extra fetches by reference, of the first replica at the last step; None where
        the loop ended before the last of the steps that it was asked for.
      short_batch: the flat components of a batch that is smaller than the others, for which no
        step was run; None where there was none.
      limit_value: the limit variable's value afterwards; None where there is no such variable.
      left_over: the input's last elements, each as its flat components, where they were too few
        to give one to each replica, and no step was run.
    """

    steps: int
    input_ended: bool
    loss: float | None
    fetched: dict[str, tf.Tensor] | None
    short_batch: list | None
    limit_value: int | None = None
    left_over: Sequence[list] = ()


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
      outputs: takes the fetches of each step, within the loop; calls return none then.

    Raises:
      NotCompilableError: see ``ReplicaStep``.

    Attributes:
      fetches: as given.
      has_effects: whether the fetches change state.
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
        self._strategy, self._outputs = strategy, outputs
        self._elements, self._hosts = elements or 1, hosts
        self._graph, self._workers = session.graph, workers_of(strategy)
        self._resources = session.resources
        self._loss = loss
        self.fetches, self.fed = tuple(fetches), tuple(fed)
        self._limit_variable = limit_variable
        self._full_batch = full_batch
        snapshot, owners = Snapshot.of(session.graph), self._resources.owners
        operations = [*operations, *(f"^{name}" for name in sums)]
        tensors = [loss] if loss else []
        self._deferred, self.has_effects = None, False
        if fetches:
            on_host = set(host.inputs) if host else set()
            given = {*inputs, *on_host, *fed, REPLICA_ID, *(f"{name}:0" for name in owners)}
            base = [*operations, *tensors, *(host.inputs.values() if host else ())]
            division = defer(snapshot, base, fetches, given, owners)
            self._deferred, self.has_effects = division.deferred, division.has_effects
            operations = [*operations, *(r for r in division.in_step if r.startswith("^"))]
        tensor_of = session.graph.get_tensor_by_name
        self._fetched = [ref for ref in fetches if not ref.startswith("^")]
        self._needs = self._deferred.needs if self._deferred else self._fetched
        if any(tensor_of(ref).dtype in (tf.variant, tf.resource) for ref in self._needs):
            # The inside of a TensorArray cannot be handed from step to step.
            self._deferred, self._needs = None, self._fetched
        tensors += [ref for ref in self._needs if not host or ref not in host.inputs]
        self._fetched_tensors = [tensor_of(ref) for ref in self._fetched]
        self._needed_tensors = [tensor_of(ref) for ref in self._needs]
        self._carried = [] if outputs else self._needed_tensors  # from step to step
        self._fed_specs = [tf.TensorSpec(tensor_of(r).shape, tensor_of(r).dtype) for r in fed]
        self._step = ReplicaStep(
            session, strategy, inputs, operations, tensors, host, axes, fed, elements, hosts,
            partitions, jit_compile, draws_alike,
        )  # fmt: skip
        self.sums = frozenset(self._step.sums)
        # To look at the variable in each step, after its update, costs a small model 8 percent.
        self._counts_up = limit_variable is not None and counts_up(
            snapshot, [*self._step.names, *self._step.host_names], limit_variable
        )
        self._compiled: list[tuple[object, Any]] = []  # element specs, concrete functions
        self._single: tuple[object, Callable] | None = None
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
        try:
            self._step.begin_loop(draw if start is None else start)
            if steps == 1 and singly and self._may_be_single:
                return self._call_once(iterator, draw, fed)
            return self._call_many(iterator, steps, draw, limit, fed)
        except tf.errors.OpError as error:
            raise with_user_line(error, self._graph) from None

    @property
    def names(self) -> list[str]:
        """The traced graph's nodes that a replica computes in a step."""
        return self._step.names

    @property
    def variables(self) -> set[str]:
        """The variables that a replica uses in a step."""
        return self._step.variables

    def check_compiles(self, for_tpu: bool = False, allowed: Collection[str] = ()) -> None:
        """Checks that XLA would compile the step: see ``ReplicaStep.check_compiles``."""
        with eager_mode(), tf.device(host_device()):
            self._step.check_ready()
            self._step.check_compiles(for_tpu, allowed)

    def traced(self, iterator) -> tf.Graph:
        """The graph of the loop for an iterator of this kind; nothing runs."""
        with eager_mode(), tf.device(host_device()):
            return self._function(iterator)[0].graph

    def _call_many(self, iterator, steps: int, draw: int, limit: int | None, fed) -> LoopResult:
        with eager_mode(), tf.device(host_device()):
            self._step.check_ready()
            function, drawn_from = self._function(iterator)
            with read_by([host.device for host in self._hosts or ()]):
                state = function(
                    drawn_from,
                    tf.constant(steps, tf.int64),
                    tf.constant(draw, tf.int64),
                    tf.constant(_NO_LIMIT if limit is None else limit, tf.int64),
                    *map(_fed_value, fed, self._fed_specs),
                )
            done, size = int(state["done"]), int(state.get("short_size", 0))
            whole = done == steps
            short = [t[:size] for t in state["short_batch"]] if size else None
            if "ahead" in state:
                iterator.ahead = state["ahead"].numpy().tolist()
                short = _rows_of_all(next(iterator)) if state["is_short"] else None
            return LoopResult(
                steps=done,
                input_ended=bool(state["ended"]),
                loss=float(state["loss"]) if done and self._loss else None,
                fetched=dict(zip(self._fetched, state["fetched"])) if whole else None,
                short_batch=short,
                limit_value=int(state["limit_value"]) if self._limit_variable else None,
                left_over=[
                    tf.nest.flatten(element.get_value(), expand_composites=True)
                    for element in state["left_over"]
                    if element.has_value()
                ],
            )

    def _call_once(self, iterator, draw: int, fed: Sequence[np.ndarray]) -> LoopResult:
        if self._single is None or self._single[0] is not iterator:
            with eager_mode(), tf.device(host_device()):
                self._step.check_ready()
                self._single = iterator, self._one_step(iterator)
        given = []
        if self._step.is_random or fed:  # to enter these contexts costs a small step percents
            with eager_mode(), tf.device(host_device()):
                given = [tf.constant(draw, tf.int64)] if self._step.is_random else []
                given += map(_fed_value, fed, self._fed_specs)
        reached, *values = self._single[1](*given)
        limit_value = int(reached)
        if limit_value == _ENDED:
            return LoopResult(0, True, None, None, None, None)
        loss = float(values.pop(0)) if self._loss else None
        return LoopResult(
            steps=1,
            input_ended=False,
            loss=loss,
            fetched=dict(zip(self._fetched, values)),
            short_batch=None,
            limit_value=limit_value if self._limit_variable else None,
        )

    def _one_step(self, iterator) -> Callable:
        """A function of one step without a loop around it, for hooks that are called each step.

        It holds the iterator: passed as an argument, that would cost as much as all the others.
        """
        is_random = self._step.is_random

        def one_step(*given):
            draw, fed = (given[0], given[1:]) if is_random else (0, given)
            batch = iterator.get_next_as_optional()

            def step():
                values = self._step([batch.get_value()], draw, fed)
                loss = [self._mean_loss(values)] if self._loss else []
                fetched = self._fetched_now(values)
                reached = self._limit_value().get("limit_value", 0)
                return [tf.cast(reached, tf.int64), *loss, *fetched]

            def nothing():
                loss = [tf.constant(0.0)] if self._loss else []
                empty = [_empty(t) for t in self._fetched_tensors]
                return [tf.constant(_ENDED, tf.int64), *loss, *empty]

            return tf.cond(batch.has_value(), step, nothing)

        specs = [*([tf.TensorSpec([], tf.int64)] if is_random else []), *self._fed_specs]
        return flat_call(tf.function(one_step, autograph=False).get_concrete_function(*specs))

    def _function(self, iterator) -> tuple[Any, Any]:
        """The compiled loop for iterators of this kind, and what it takes in their place."""
        draws, drawn_from = draws_of(iterator, self._elements, self._full_batch)
        for key, function in self._compiled:
            if key == draws.key:
                return function, drawn_from
        number = tf.TensorSpec([], tf.int64)
        function = tf.function(functools.partial(self._many_steps, draws), autograph=False)
        concrete = function.get_concrete_function(
            drawn_from, number, number, number, *self._fed_specs
        )
        self._compiled.append((draws.key, concrete))
        return concrete, drawn_from

    def _many_steps(self, draws: Draws, iterator, steps, draw, limit, *fed):
        # Every operation here runs once a step, and costs a small model's step about a percent.
        # The next batch is drawn ahead, at the end of the step before and only if there is to be
        # another: so the loop's condition sees the input's end, no batch is lost, and the step
        # itself stands in the loop without a branch around it.
        on_hosts = isinstance(draws, HostDraws)
        takes_full_only = self._full_batch is not None and not on_hosts

        variable, most = self._limit_variable, steps
        if variable is not None and self._counts_up:
            most = tf.minimum(steps, limit - self._limit_now(variable))

        def is_wanted(state, whatever_loss=False):
            wanted = state["done"] < most
            if variable is not None and not self._counts_up:
                wanted &= self._limit_now(variable) < limit
            if self._loss and not whatever_loss:
                wanted &= _is_a_number(state["loss"])
            if takes_full_only:
                wanted &= tf.equal(state["short_size"], 0)
            return wanted

        def with_next_batch(state, meeting=1, ahead=None):
            # Alone, no draw waits for the loss.
            wanted = is_wanted(state, whatever_loss=not self._workers)
            batch = draws.draw(iterator, wanted, ahead)
            if self._workers:
                has = batch[-1].has_value() | ~wanted
                loss, all_have_one = self._meet(self._workers, meeting, state["loss"], has)
                wanted &= _is_a_number(loss)
                kept = batch
                batch = tf.cond(wanted & all_have_one, lambda: kept, draws.nothing)
                state = {**state, "loss": loss}
            return {**state, "batch": batch}

        def body(state):
            batch, ahead = draws.take(iterator, state["batch"])
            stepped = self._stepped_if_full if takes_full_only else self._stepped
            return (with_next_batch(stepped(state, batch, draw, fed), ahead=ahead),)

        start = with_next_batch(self._start(iterator, takes_full_only), meeting=0)
        shapes = {
            **tf.nest.map_structure(lambda t: t.shape, {**start, "batch": start["done"]}),
            "needs": [t.shape for t in self._carried],
            "batch": draws.specs,
        }

        def goes_on(state):
            has_batch = draws.are_there(state["batch"])
            if on_hosts:  # nothing is drawn ahead
                return has_batch & is_wanted(state)
            return has_batch & _is_a_number(state["loss"]) if self._loss else has_batch

        end = tf.while_loop(
            goes_on,
            body,
            (start,),
            shape_invariants=(shapes,),
            name="steps",
        )[0]
        batch, needs = end.pop("batch"), end.pop("needs")
        end["left_over"], wanted = draws.left_over(batch), is_wanted(end)
        end["ended"] = wanted & draws.have_ended(batch)
        if on_hosts:
            end["ahead"], end["is_short"] = batch[0], wanted & ~end["ended"]
        end["fetched"] = self._fetch_last(needs, tf.equal(end["done"], steps))
        return {**end, **self._limit_value()}

    def _start(self, iterator, takes_full_only: bool) -> dict:
        """The loop's state before the first step."""
        start = {
            "done": tf.constant(0, tf.int64),
            "loss": tf.constant(0.0),
            "needs": [_empty(t) for t in self._carried],
        }
        if takes_full_only:
            _, spec = iterator.element_spec
            start["short_size"] = tf.constant(0, tf.int64)
            start["short_batch"] = [tf.zeros(s.shape, s.dtype) for s in tf.nest.flatten(spec)]
        return start

    def _meet(self, workers: Workers, meeting: int, loss, has_batch):
        """The workers' mean loss, and whether each of them has a batch: none goes on alone."""
        first_key, _ = workers.keys(self._graph)
        mine = tf.stack([loss, tf.cast(has_batch, tf.float32)])
        total = workers.sum_over_hosts(mine, first_key + meeting)
        return total[0] / workers.count, total[1] > workers.count - 0.5

    def _stepped(self, state: dict, batch, draw, fed=()) -> dict:
        values = self._step(batch, draw + state["done"], fed)
        new = {**state, "done": state["done"] + 1}
        if self._loss:
            new["loss"] = self._mean_loss(values)
        if self._outputs:
            put = self._outputs.put(self._fetched_now(values))
            with tf.control_dependencies([put]):  # before the next batch is drawn, which may fail
                new["done"] = tf.identity(new["done"])
        new["needs"] = [] if self._outputs else self._needed(values)
        return new

    def _mean_loss(self, values: dict):
        if not self._loss:
            return tf.constant(0.0)
        loss = mean_over_replicas(self._strategy, values[self._loss])
        loss.set_shape([])  # of which the graph may not know
        return loss

    def _needed(self, values: dict) -> list:
        local = self._strategy.experimental_local_results
        needs = [local(values[ref])[0] for ref in self._needs]
        for need, traced in zip(needs, self._needed_tensors):
            need.set_shape(traced.shape)  # a GraphDef forgets what set_shape said
        return needs

    def _stepped_if_full(self, state: dict, sized_batch, draw, fed=()) -> dict:
        ((size, components),) = sized_batch
        flat = tf.nest.flatten(components, expand_composites=True)
        kept = {key: value for key, value in state.items() if key != "batch"}
        return tf.cond(
            tf.equal(size, self._full_batch),
            lambda: self._stepped(kept, flat, draw, fed),
            lambda: {**kept, "short_size": size, "short_batch": flat},
        )

    def _fetch_last(self, needs: list, is_whole) -> list:
        """The fetches, from what the last step left for them."""
        if not self._deferred or self._outputs:
            return needs
        known = dict(zip(self._needs, needs))
        return tf.cond(
            is_whole,
            lambda: self._shaped(self._deferred(known)),
            lambda: [_empty(t) for t in self._fetched_tensors],
        )

    def _fetched_now(self, values: dict) -> list:
        needs = self._needed(values)
        if not self._deferred:
            return needs
        return self._shaped(self._deferred(dict(zip(self._needs, needs))))

    def _limit_value(self) -> dict:
        if self._limit_variable is None:
            return {}
        variable = self._resources.first_copy(self._limit_variable)
        return {"limit_value": variable.read_value()}

    def _shaped(self, fetched: list) -> list:
        """Gives tensors the shapes that they had while tracing; a GraphDef forgets set_shape."""
        return [
            tf.ensure_shape(value, traced.shape)
            for value, traced in zip(fetched, self._fetched_tensors)
        ]

    def _limit_now(self, variable: str) -> tf.Tensor:
        return tf.cast(self._resources.first_copy(variable).read_value(), tf.int64)


def _is_a_number(loss: tf.Tensor) -> tf.Tensor:
    """False for NaN, in one operation."""
    return loss <= np.inf


def _empty(tensor: tf.Tensor) -> tf.Tensor:
    """A value of the tensor's type, for loops that have not run a step."""
    shape = [size or 0 for size in (tensor.shape.as_list() if tensor.shape.rank else [])]
    return tf.fill(shape, "") if tensor.dtype == tf.string else tf.zeros(shape, tensor.dtype)


def _rows_of_all(elements: list) -> list:
    """The examples of several hosts' batches, of which each tells its size and may be padded."""
    rows = [[part[: int(size)] for part in tf.nest.flatten(batch)] for size, batch in elements]
    return [tf.concat(parts, axis=0) for parts in zip(*rows)]


def _fed_value(value, spec: tf.TensorSpec):
    return tf.convert_to_tensor(value, spec.dtype)
