"""One step of a traced graph: the same on every replica, then the host's part."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import (
    JoinFn,
    Lifted,
    LiftedSession,
    Snapshot,
    StateCut,
    host_device,
)
from estimator_bridge.graph.compilable import find_obstacles, not_compilable
from estimator_bridge.runtime.hosts import Host, split_over_hosts
from estimator_bridge.runtime.lowering import StepLowering
from estimator_bridge.runtime.replicas import (
    WorkerJoin,
    deal_batches,
    gather,
    join_replicas,
    replica_id,
    split_batch,
)
from estimator_bridge.runtime.workers import workers_of
from estimator_bridge.tensorflow_private import cores_per_replica, eager_mode

__all__ = ["HostStage", "ReplicaStep"]


@dataclasses.dataclass(frozen=True)
class HostStage:
    """What the host computes after each step from what the replicas gathered.

    Attributes:
      inputs: for each placeholder that the host's operations read, the tensor of the step whose
        per-replica values are concatenated into it.
      operations: what to run, '^name' each.
      first_replica_only: whether the first replica's values are taken instead of all.
      every_n_steps: whether only every so many steps of a loop, from its first on.
      counted: what the host runs after that, once for each replica with the replica's own values.
    """

    inputs: dict[str, str]
    operations: tuple[str, ...]
    first_replica_only: bool = False
    every_n_steps: int = 1
    counted: StateCut | None = None


class ReplicaStep:
    """A step, for use inside a tf.function.

    Args:
      session: of the traced graph.
      strategy: runs the replicas.
      inputs: the graph's tensors that a batch's flat components stand for.
      operations: what a step runs, '^name' each.
      tensors: references of what a call returns.
      host: what the host does afterwards.
      axes: see ``split_batch``.
      fed: further references whose values a call supplies, the same for all replicas.
      elements: where the replicas do not share a host's batch: how many elements of the input,
        one for each replica of this process, make up a step's.
      hosts: where other machines feed the replicas: who feeds which.
      partitions: where a replica has several of a TPU's cores: for each component of a replica's
        batch, into how many parts each dimension is cut for them; None gives all of them all.
      jit_compile: whether XLA compiles the replicas' part, from one sum over them to the next. The
        input, the sums and the host's part stay outside.
      draws_alike: see ``Lifted``; for comparing numbers of replicas.

    Raises:
      NotCompilableError: ``jit_compile``, and XLA has no such operation as one of the step's.
    """

    def __init__(
        self,
        session: LiftedSession,
        strategy: tf.distribute.Strategy,
        inputs: Sequence[str],
        operations: Sequence[str],
        tensors: Sequence[str],
        host: HostStage | None = None,
        axes: Sequence[int | None] | None = None,
        fed: Sequence[str] = (),
        elements: int | None = None,
        hosts: Sequence[Host] | None = None,
        partitions: Sequence[Sequence[int] | None] | None = None,
        jit_compile: bool = False,
        draws_alike: bool = False,
    ):
        self._graph = session.graph  # py_function's callables live as long as their graph
        self._strategy = strategy
        self._resources = session.resources
        self._inputs, self._axes, self._host = list(inputs), axes, host
        self._fed, self._is_ready = list(fed), False
        self._elements, self._hosts, self._partitions = elements, hosts, partitions
        self._gathered = list(dict.fromkeys(host.inputs.values())) if host else []
        self._counted = host.counted if host else None
        counted = self._counted.inputs if self._counted else ()
        self._tensors = list(dict.fromkeys([*tensors, *self._gathered, *counted]))
        snapshot, owners = Snapshot.of(session.graph), self._resources.owners
        handles = {f"{name}:0" for name in owners}
        self._lifted = Lifted(
            snapshot,
            [*self._tensors, *operations],
            {*handles, *inputs, *fed},
            owners,
            jit_compile,
            draws_alike,
            keeps_cores=cores_per_replica(strategy) > 1,
            bakes_constants=True,
        )
        _check_fed(snapshot, self._lifted.names)
        self._resources.check_not_read_elsewhere(self._lifted.names)
        if jit_compile:
            obstacles = find_obstacles(self._graph, self._lifted.names, for_tpu=False)
            if obstacles:
                raise not_compilable(obstacles)
        self._resources.prepare(self._lifted.given)
        self._workers = workers_of(strategy)
        self._host_lifted = self._counted_lifted = None
        self._loop_start: tf.Variable | None = None
        if host and host.every_n_steps > 1:
            with eager_mode(), tf.device(host_device()):
                self._loop_start = tf.Variable(0, dtype=tf.int64, trainable=False)
        if host:
            offered = {*handles, *host.inputs, *fed}
            self._host_lifted = Lifted(snapshot, host.operations, offered, owners)
            self._resources.prepare(self._host_lifted.given)
        if self._counted:
            _check_counted_once(self._counted, self._lifted.names)
            offered = {*handles, *self._counted.inputs, *self._counted.checks, *fed}
            self._counted_lifted = Lifted(snapshot, self._counted.operations, offered, owners)
            self._resources.prepare(self._counted_lifted.given)

    @property
    def is_random(self) -> bool:
        """Whether the position, in the random streams or in a loop, makes a difference."""
        parts = (self._lifted, self._host_lifted, self._counted_lifted)
        is_counted = self._loop_start is not None
        return is_counted or any(part.random_names for part in parts if part)

    @property
    def random_names(self) -> list[str]:
        """The random operations whose numbers depend on the position."""
        return [*self._lifted.random_names]

    @property
    def sums(self) -> list[str]:
        """The CrossReplicaSum nodes that a step computes."""
        return self._lifted.sums

    def check_ready(self) -> None:
        """Checks that the variables that a step reads are initialized.

        Raises:
          FailedPreconditionError: one is not.
        """
        if self._is_ready:  # a variable that has a value keeps one
            return
        with eager_mode(), tf.device(host_device()):
            self._resources.check_values(self._lifted.reads_first)
            for part in (self._host_lifted, self._counted_lifted):
                if part:
                    self._resources.check_values(part.reads_first)
        self._is_ready = True

    @property
    def names(self) -> list[str]:
        """The nodes that a replica computes."""
        return self._lifted.names

    @property
    def host_names(self) -> list[str]:
        """The nodes that the host computes."""
        parts = (self._host_lifted, self._counted_lifted)
        return [name for part in parts if part for name in part.names]

    @property
    def variables(self) -> set[str]:
        """The variables that a replica uses."""
        handles = {ref[: -len(":0")] for ref in self._lifted.given}
        return handles & self._resources.variables.keys()

    @property
    def lowering(self) -> StepLowering:
        """Lowers a replica's part to XLA's HLO."""
        refs = (*self._inputs, *self._fed)
        count = len(self._tensors)
        return StepLowering(self._graph, self._resources, self._lifted, refs, count)

    def begin_loop(self, draw: int) -> None:
        """Says at which position a loop's first step is; the host counts from there."""
        if self._loop_start is not None:
            with eager_mode():
                self._loop_start.assign(draw)

    def __call__(self, batch, draw, fed: Sequence[tf.Tensor] = ()) -> dict:
        """Runs the step.

        Args:
          batch: a host's batch, split evenly over the replicas; with ``elements``, a list of so
            many replicas' batches; with ``hosts``, a list of each host's.
          draw: the position in the random streams.
          fed: the values of the references that are fed, in their order.

        Returns:
          The wanted tensors' per-replica values by reference, and the host's inputs, gathered.
        """
        flat = tf.nest.flatten(batch, expand_composites=True)
        parts = self._parts(flat)

        def on_replica(*components):
            values = self._resources.handles(self._lifted.given)
            values.update(zip(self._inputs, self._cut(components)))
            values.update(zip(self._fed, fed))  # a hook may feed what the input would bring
            results = self._lifted(values, self._join(), replica_id(), draw)
            return [tf.identity(result) for result in results[: len(self._tensors)]]

        results = self._strategy.run(
            tf.autograph.experimental.do_not_convert(on_replica), args=tuple(parts)
        )
        values = dict(zip(self._tensors, results))
        if self._host and self._host_lifted:
            values.update(self._run_host(self._host, self._host_lifted, values, draw, fed))
        if self._host and self._counted and self._counted_lifted:
            self._count(self._counted, self._counted_lifted, values, draw, fed)
        return values

    def _parts(self, flat: list) -> list:
        """The arguments of strategy.run: a batch's components, each with the replicas' values."""
        replicas = self._strategy.num_replicas_in_sync
        if self._elements:
            return deal_batches(flat, self._elements)
        if self._hosts:
            return split_over_hosts(flat, self._hosts, self._axes)
        return split_batch(flat, replicas, self._axes) if replicas > 1 else flat

    def _cut(self, components: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        """A replica's batch, cut over its cores as XLA is told."""
        if not self._partitions:
            return components
        whole = self._strategy.experimental_replicate_to_logical_devices
        cut = self._strategy.experimental_split_to_logical_devices
        return [
            cut(component, list(dims)) if dims and np.prod(dims) > 1 else whole(component)
            for component, dims in itertools.zip_longest(components, self._partitions)
        ]

    def _join(self) -> JoinFn:
        """Adds over the replicas, for one replica's import of the step."""
        if self._workers is None:
            return join_replicas
        _, keys = self._workers.keys(self._graph)
        return WorkerJoin(self._workers, self._lifted.sums, keys)

    def _run_host(self, host: HostStage, lifted: Lifted, values: dict, draw, fed) -> dict:
        with tf.device(host_device()):
            most = 1 if host.first_replica_only else None
            gathered = {ref: gather(self._strategy, values[ref], most) for ref in self._gathered}
            inputs = {p: gathered[ref] for p, ref in host.inputs.items()}
            given = {**self._resources.handles(lifted.given), **inputs, **dict(zip(self._fed, fed))}

            def run():
                lifted(given, lambda sums: [value for value, _ in sums], draw=draw)
                return tf.constant(True)

            if self._loop_start is None:
                run()
            else:
                number = draw - self._loop_start.read_value()
                is_due = tf.equal(number % host.every_n_steps, 0)
                tf.cond(is_due, run, lambda: tf.constant(False))
        return inputs

    def _count(self, counted: StateCut, lifted: Lifted, values: dict, draw, fed) -> None:
        """Runs the host's counting part for one replica after the other."""
        is_one = self._host is not None and self._host.first_replica_only
        count = 1 if is_one else self._strategy.num_replicas_in_sync
        parts = [self._strategy.experimental_local_results(values[ref]) for ref in counted.inputs]
        with tf.device(host_device()):

            def run(*replica):
                given = {
                    **self._resources.handles(lifted.given),
                    **dict.fromkeys(counted.checks, tf.constant(True)),
                    **dict(zip(counted.inputs, replica)),
                    **dict(zip(self._fed, fed)),
                }
                lifted(given, lambda sums: [value for value, _ in sums], draw=draw)
                return tf.constant(True)

            run = tf.function(run, autograph=False) if count > 1 else run  # one body for all
            for i in range(count):
                run(*(part[i] for part in parts))


def _check_counted_once(counted: StateCut, names: Sequence[str]) -> None:
    """Checks that the replicas compute nothing of what the host counts.

    Raises:
      NotImplementedError: they do, as a hook fetches it.
    """
    twice = sorted(counted.nodes.intersection(names))
    if twice:
        raise NotImplementedError(
            f"A hook fetches {twice[-1]!r} in an evaluation on cores, which belongs to a metric of "
            "eval_metric_ops: the host updates metrics after each step, and a fetch would count "
            "the examples twice. Let the hook fetch what the metric is computed from, or read the "
            "results of evaluate()."
        )


def _check_fed(snapshot: Snapshot, names: Sequence[str]) -> None:
    for name in names:
        node = snapshot.nodes[name]
        if node.op == "Placeholder":
            kind = tf.as_dtype(node.attr["dtype"].type).name
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"You must feed a value for placeholder tensor {name!r} with dtype {kind}: a step "
                "needs it. Feed it from a hook, in each step: tf.train.FeedFnHook(lambda: "
                f"{{{name + ':0'!r}: value}}); or return a tf.data.Dataset from input_fn.",
            )
