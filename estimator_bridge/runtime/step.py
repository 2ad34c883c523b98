"""One step of a traced graph: the same on every replica, then the host's part."""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import (
    JoinFn,
    Lifted,
    LiftedSession,
    Snapshot,
    host_device,
    is_on_tpu,
)
from estimator_bridge.graph.compilable import find_obstacles, not_compilable
from estimator_bridge.graph.randomness import RandomStreams
from estimator_bridge.runtime.host_step import HostPart
from estimator_bridge.runtime.lowering import StepLowering
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.replicas import SPLIT_EVENLY, BatchLayout, replica_id
from estimator_bridge.runtime.step_values import FETCHES_NOTHING, LoopRequest, Step
from estimator_bridge.runtime.workers import workers_of
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.tensorflow_private.strategies import cores_per_replica

__all__ = ["ReplicaStep"]


class ReplicaStep:
    """A step, for use inside a tf.function.

    Args:
      session: the session of the traced graph.
      strategy: runs the replicas.
      step: the step to run.
      layout: the layout of its batch.
      request: the results besides the loss: ``fetches``, of every step and every replica. Loops
        handle ``outputs``.

    Raises:
      NotCompilableError: ``jit_compile``, and XLA lacks one of the step's operations.
    """

    def __init__(
        self,
        session: LiftedSession,
        strategy: tf.distribute.Strategy,
        step: Step,
        layout: BatchLayout = SPLIT_EVENLY,
        request: LoopRequest = FETCHES_NOTHING,
    ):
        self._session, self._strategy = session, strategy  # py_function's live with their graph
        self._layout, self._is_ready = layout, False
        # A hook may feed a tensor that the input would provide.
        self._inputs, self._fed = list(step.inputs), list(request.fed)
        refs = [*([step.loss] if step.loss else []), *request.fetches]
        self._tensors = list(dict.fromkeys([*refs, *HostPart.needs_of(step.host)]))
        snapshot, resources = Snapshot.of(session.graph), session.resources
        self._lifted = Lifted(
            snapshot,
            [*self._tensors, *step.operations, *(f"^{name}" for name in request.sums)],
            {*(f"{name}:0" for name in resources.owners), *step.inputs, *request.fed},
            resources.owners,
            request.jit_compile,
            _streams(request, strategy),
            keeps_cores=cores_per_replica(strategy) > 1,
            bakes_constants=True,
        )
        resources.add_counters(self._lifted.counters)
        _check_fed(snapshot, self._lifted.names)
        resources.inputs.check_not_read_elsewhere(self._lifted.names)
        if request.jit_compile:
            obstacles = find_obstacles(
                session.graph, self._lifted.names, False, self._lifted.computed_ops
            )
            if obstacles:
                raise not_compilable(obstacles)
        resources.prepare(self._lifted.input_refs)
        self._host: HostPart | None = None
        if step.host:
            self._host = HostPart(session, strategy, step.host, request.fed, self._lifted.names)

    @property
    def is_random(self) -> bool:
        """Whether the result depends on the position in the random streams or in a loop."""
        return bool(self._lifted.random_names) or bool(self._host and self._host.is_random)

    @property
    def random_names(self) -> list[str]:
        """The random operations whose numbers depend on the position."""
        return [*self._lifted.random_names]

    @property
    def computed_ops(self) -> Set[str]:
        """Types of ops that XLA compiles in this step, though it has no kernel of them."""
        return self._lifted.computed_ops

    @property
    def sums(self) -> list[str]:
        """The CrossReplicaSum nodes that a step computes."""
        return self._lifted.sums

    def check_ready(self) -> None:
        """Checks that the variables that a step reads are initialized.

        Raises:
          FailedPreconditionError: a variable is not initialized.
        """
        if self._is_ready:  # a variable that has a value keeps one
            return
        with eager_mode(), tf.device(host_device()):
            self._session.resources.check_values(self._lifted.reads_first)
            if self._host:
                self._host.check_values()
        self._is_ready = True

    @property
    def names(self) -> list[str]:
        """The nodes that a replica computes."""
        return self._lifted.names

    @property
    def host_names(self) -> list[str]:
        """The nodes that the host computes."""
        return self._host.names if self._host else []

    @property
    def variables(self) -> set[str]:
        """The variables that a replica uses."""
        handles = {ref[: -len(":0")] for ref in self._lifted.input_refs}
        return handles & self._session.resources.variables.keys()

    @property
    def updates(self) -> list[str]:
        """The variables that a replica may write, sorted."""
        return sorted(set(self._lifted.writes) & self._session.resources.variables.keys())

    @property
    def host(self) -> HostPart | None:
        """The host's part; None if there is none."""
        return self._host

    @property
    def tensors(self) -> list[str]:
        """The references whose values a replica returns, in their order."""
        return self._tensors

    @property
    def used_inputs(self) -> list[int]:
        """The indices of the batch's flat components that a replica uses, and does not get fed."""
        refs = self._lifted.input_refs - set(self._fed)
        return [i for i, ref in enumerate(self._inputs) if ref in refs]

    @property
    def used_specs(self) -> list[tf.TensorSpec]:
        """The specs of these components, with shapes as far as the graph knows them."""
        tensors = [self.graph.get_tensor_by_name(self._inputs[i]) for i in self.used_inputs]
        return [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]

    @property
    def inputs(self) -> int:
        """The number of the batch's flat components."""
        return len(self._inputs)

    @property
    def graph(self) -> tf.Graph:
        """The traced graph."""
        return self._session.graph

    @property
    def has_host_part(self) -> bool:
        """Whether the host computes after each step."""
        return self._host is not None

    @property
    def lowering(self) -> StepLowering:
        """Lowers a replica's part to XLA's HLO."""
        return self._lowering(self._inputs)

    @property
    def lowering_of_used(self) -> StepLowering:
        """Lowers a replica's part, of whose batch only ``used_inputs`` are arguments."""
        return self._lowering([self._inputs[i] for i in self.used_inputs])

    def _lowering(self, inputs: Sequence[str]) -> StepLowering:
        refs, count = (*inputs, *self._fed), len(self._tensors)
        session, device = self._session, self._strategy.extended.worker_devices[0]
        return StepLowering(session.graph, session.resources, self._lifted, refs, count, device)

    def begin_loop(self, rng_step: int) -> None:
        """Sets the position of a loop's first step, from which the host counts."""
        if self._host:
            self._host.begin_loop(rng_step)

    def __call__(
        self, batch: Any, rng_step: tf.Tensor, fed: Sequence[tf.Tensor] = ()
    ) -> dict[str, Any]:
        """Runs the step.

        Args:
          batch: see ``BatchLayout.deal``.
          rng_step: the position in the random streams.
          fed: the values of the references that are fed, in their order.

        Returns:
          The wanted tensors' per-replica values by reference, and the host's inputs, gathered.
        """
        flat = tf.nest.flatten(batch, expand_composites=True)
        parts = self._layout.deal(flat, self._strategy.num_replicas_in_sync)

        def on_replica(*components: tf.Tensor) -> Any:
            values = self._session.resources.handles(self._lifted.input_refs)
            values.update(zip(self._inputs, self._split_to_cores(components)))
            values.update(zip(self._fed, fed))
            results = self._lifted(values, self._join(), replica_id(), rng_step)
            return [tf.identity(result) for result in results[: len(self._tensors)]]

        # strategy.run hands functions to autograph, which would convert this library's own.
        results = self._strategy.run(
            tf.autograph.experimental.do_not_convert(on_replica), args=tuple(parts)
        )
        values = dict(zip(self._tensors, results))
        if self._host:
            values.update(self._host(values, rng_step, fed))
        return values

    def _split_to_cores(self, components: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        """Splits a replica's batch over its cores, by annotations for XLA."""
        partitions = self._layout.partitions
        if not partitions:
            return components
        whole = self._strategy.experimental_replicate_to_logical_devices
        split = self._strategy.experimental_split_to_logical_devices
        return [
            split(component, list(dims)) if dims and np.prod(dims) > 1 else whole(component)
            for component, dims in itertools.zip_longest(components, partitions)
        ]

    def _join(self) -> JoinFn:
        """Returns the sum over the replicas, for one replica's import of the step."""
        return workers_of(self._strategy).join(self._session.graph, self._lifted.sums)


def _streams(request: LoopRequest, strategy: tf.distribute.Strategy) -> RandomStreams:
    on_jax = isinstance(strategy, JaxStrategy)
    by_device = strategy.device_draws if on_jax else is_on_tpu(strategy)
    return RandomStreams(
        request.draws_alike,
        by_device,
        for_xla=on_jax and not by_device,
        has_counters=True,
        needs_positions=on_jax,
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
