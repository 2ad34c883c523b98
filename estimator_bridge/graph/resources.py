"""The resources of a traced graph, owned on the TF2 side: variables, tables, iterators.

Each ``VarHandleOp`` of the graph becomes a variable of the strategy, with one copy per replica,
uninitialized until the graph's own initializer runs. Other resources (hash tables, queues,
iterators, summary writers) live once, on the host, and all replicas share them.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.input_sources import InputSources
from estimator_bridge.graph.lift import Lifted
from estimator_bridge.graph.one_shot_iterators import as_initialized
from estimator_bridge.graph.op_kinds import QUEUES
from estimator_bridge.graph.placement import core_of
from estimator_bridge.graph.replica_local import replica_locals
from estimator_bridge.graph.row_pipelines import row_bytes
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.whole_values import WholeValues
from estimator_bridge.tensorflow_private.eager import host_address
from estimator_bridge.tensorflow_private.names import UninitializedVariable, eager_mode, op_def
from estimator_bridge.tensorflow_private.strategies import cores_per_replica

__all__ = ["DeviceValues", "Resources", "host_device"]

_scopes = itertools.count()

# The name that kernels use for variables in their messages. All variables share it: with a separate
# name, each handle would need its own kernel, which takes ten times as long to make as the handle.
_VARIABLE = "variable"


def host_device() -> str:
    """Returns the device for everything that does not run on an accelerator."""
    return host_address() + "/device:CPU:0"


class DeviceValues(Protocol):
    """Values of variables that a runtime other than TensorFlow keeps on its devices."""

    def bring(self, names: Iterable[str], resources: Resources) -> None:
        """Assigns newer values of the devices to the variables of these names."""

    def drop(self, names: Iterable[str]) -> None:
        """Forgets the devices' values of variables that were assigned here."""

    def clear(self) -> None:
        """Forgets all."""

    def each(self, name: str) -> list[np.ndarray] | None:
        """Returns a variable's value on each replica of this process; None if there is none."""


class Resources:
    """The variables and other resources of one graph under one strategy.

    Args:
      graph: the traced graph; it may grow.
      strategy: the strategy that places the copies of variables.
      shared: resources of another trace of the same model; variables of the same name are shared.

    Attributes:
      variables: the variables created so far, by node name.
      wholes: the host's copies of variables whose replicas' values differ.
      inputs: the iterators and queues that steps read, and the counters of their draws.
    """

    def __init__(
        self,
        graph: tf.Graph,
        strategy: tf.distribute.Strategy,
        shared: Resources | None = None,
    ):
        self._graph = graph
        self._strategy = strategy
        self._shared = shared
        self.variables: dict[str, tf.Variable] = {}
        self.wholes = WholeValues(replica_locals(graph).variables, strategy.num_replicas_in_sync)
        self.inputs = InputSources()
        self._host_handles: dict[str, tf.Tensor] = {}
        self._owners: tuple[int, set[str]] = (-1, set())  # in which version of the graph
        self._have_values: set[str] = set()
        self._on_device: DeviceValues | None = None

    @functools.cached_property
    def _scope(self) -> str:
        return f"estimator_bridge_{next(_scopes)}"

    @property
    def on_device(self) -> DeviceValues | None:
        """The values on another runtime's devices; None if TensorFlow runs the steps."""
        return self._shared.on_device if self._shared else self._on_device

    def keep_on(self, values: DeviceValues) -> None:
        """Takes a runtime's values into account in each session's reads and writes from now on."""
        if self._shared:
            self._shared.keep_on(values)
        else:
            self._on_device = values

    @property
    def owners(self) -> set[str]:
        """Names of the nodes that own a resource."""
        if self._owners[0] != self._graph.version:
            self._owners = self._graph.version, self.owners_in(self._graph)
        return self._owners[1]

    @staticmethod
    def owners_in(graph: tf.Graph) -> set[str]:
        """Returns the names of the nodes of a graph that own a resource."""
        nodes = Snapshot.of(graph).nodes.values()
        return {node.name for node in nodes if _owns_resource(node)}

    def prepare(self, refs: set[str]) -> None:
        """Creates the missing resources behind these handle references."""
        owners = self.owners
        names = [ref[: -len(":0")] for ref in sorted(refs)]
        existing = self.variables.keys() | self._host_handles.keys()
        missing = [name for name in names if name in owners and name not in existing]
        if not missing:
            return
        nodes = Snapshot.of(self._graph).nodes
        variables = [name for name in missing if nodes[name].op == "VarHandleOp"]
        shared_names = set(variables) & (self._shared.owners if self._shared else set())
        if self._shared and shared_names:
            self._shared.prepare({f"{name}:0" for name in shared_names})
            self.variables.update((name, self._shared.variables[name]) for name in shared_names)
        own_nodes = [nodes[name] for name in variables if name not in shared_names]
        self.variables.update(self._make_variables(own_nodes))
        for name in variables:
            if self.wholes.are_needed(name):
                self.wholes.add(name, self._make_whole(nodes[name]))
        for name in missing:
            if nodes[name].op != "VarHandleOp":
                self._host_handles[name] = self._make_hosted(name)

    def add_counters(self, sizes: Mapping[str, int]) -> None:
        """Creates the missing ones of some variables of int64 that the graph has not."""
        sizes = {name: size for name, size in sizes.items() if name not in self.variables}
        nodes = []
        for name, size in sizes.items():
            node = tf.compat.v1.NodeDef(name=name, op="VarHandleOp")
            node.attr["dtype"].type = tf.int64.as_datatype_enum
            node.attr["shape"].shape.CopyFrom(tf.TensorShape([size]).as_proto())
            nodes.append(node)
        self.variables.update(self._make_variables(nodes))
        with eager_mode():
            for name in sizes:
                self.inputs.draw_counters.add(name, self.copies(name))

    def counted_draws(self) -> dict[str, np.ndarray]:
        """Returns the values of all counters: int64 [replicas of this process, draws].

        One that no step has used yet may be left out.
        """
        values = {}
        for name in self.inputs.draw_counters.names:
            if self.on_device is None:
                with eager_mode():
                    values[name] = np.stack([copy.numpy() for copy in self.copies(name)])
                continue
            parts = self.on_device.each(name)
            first = np.stack(parts) if parts else self.inputs.draw_counters.first(name)
            if first is not None:
                values[name] = first
        return values

    def handles(self, refs: set[str]) -> dict[str, tf.Tensor]:
        """Returns handles by reference, captured by the function under construction, if any.

        In a replica's context a variable's handle is that of the replica's own copy, elsewhere that
        of the copy that sessions see.
        """
        function = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        in_scope = tf.distribute.has_strategy()  # of strategy.run, or of the program
        on_host = not in_scope or tf.distribute.in_cross_replica_context()
        handles = {}
        for ref in refs:
            name = ref[: -len(":0")]
            if name in self.variables:
                variable = self.session_copy(name) if on_host else self.variables[name]
                handles[ref] = variable.handle
            elif name in self._host_handles:
                handles[ref] = self._host_handles[name]
        if function is not None:
            handles = {ref: function.capture(handle) for ref, handle in handles.items()}
        return handles

    def largest(self, names: Iterable[str]) -> int:
        """Returns the bytes of the largest of these variables, as far as shapes are known."""
        variables = [self.variables[name] for name in names if name in self.variables]
        return max((row_bytes(v.shape, v.dtype) for v in variables), default=0)

    def check_values(self, names: set[str]) -> None:
        """Checks, eagerly, that variables are initialized; initialized variables stay so.

        Raises:
          FailedPreconditionError: a variable is not. Reading it would return an empty tensor.
        """
        for name in sorted((names & self.variables.keys()) - self._have_values):
            if not self.first_copy(name).is_initialized():
                raise tf.errors.FailedPreconditionError(
                    None,
                    None,
                    f"Attempting to use uninitialized value {name!r}. Run its initializer "
                    "(global_variables_initializer(), or local_variables_initializer() for a "
                    "local variable), or give it to the Scaffold's init_op or local_init_op.",
                )
            self._have_values.add(name)

    def have_values(self, names: Collection[str]) -> bool:
        """Returns whether sessions see these names as initialized variables; eager."""
        if not self.owners.issuperset(names):
            return False
        self.prepare({f"{name}:0" for name in names})
        with eager_mode():
            for name in sorted(set(names) - self._have_values):
                if name not in self.variables or not self.session_copy(name).is_initialized():
                    return False
                self._have_values.add(name)
        return True

    def values(self, names: Sequence[str]) -> list[tf.Tensor]:
        """Returns the values that sessions see of initialized variables, as eager tensors."""
        with eager_mode(), tf.device(host_device()):
            self.combine(names)
            return [self.session_copy(name).read_value() for name in names]

    def session_copy(self, name: str) -> tf.Variable:
        """Returns the copy that checkpoints and sessions see.

        It is the first replica's, or the host's copy if the replicas' values differ.
        """
        whole = self.wholes.get(name)
        return self.first_copy(name) if whole is None else whole

    def combine(self, names: Iterable[str]) -> None:
        """Updates the host's copies of variables from the replicas' copies, eagerly.

        If other processes have replicas, they are settled already.
        """
        if self.on_device is not None:
            self.on_device.bring(names, self)
        for name in self.wholes.among(names):
            copies = self.copies(name)
            if len(copies) == self.wholes.replicas and copies[0].is_initialized():
                self.wholes.settle(name, self.local_total(name))

    def local_total(self, name: str) -> tf.Tensor:
        """Returns the sum of a variable's copies in this process; eager."""
        return tf.add_n([copy.read_value() for copy in self.copies(name)])

    def deal_out(self, names: Iterable[str], ran: Collection[str]) -> None:
        """Distributes the values that a session's function wrote to the replicas, eagerly.

        Args:
          names: names of the variables that it may have written.
          ran: the nodes of the function, which may include the variables' initializers.
        """
        if self.on_device is not None:
            self.on_device.drop(names)
        for name in names:
            copies = self.copies(name)
            if self.wholes.get(name) is not None:
                self.wholes.deal_out(name, copies, ran)
            elif copies[0].is_initialized():
                value = copies[0].read_value()
                for copy in copies[1:]:
                    copy.assign(value)

    def first_copy(self, name: str) -> tf.Variable:
        """Returns the first replica's copy of a variable."""
        return self._strategy.experimental_local_results(self.variables[name])[0]

    def copies(self, name: str) -> tuple[tf.Variable, ...]:
        """Returns all local copies of a variable, the first replica's first."""
        return self._strategy.experimental_local_results(self.variables[name])

    def close_queues(self) -> None:
        """Closes all queues, so that nothing waits for them any longer."""
        nodes = Snapshot.of(self._graph).nodes
        with eager_mode():
            for name, handle in list(self._host_handles.items()):
                if nodes[name].op in QUEUES:
                    tf.raw_ops.QueueCloseV2(handle=handle, cancel_pending_enqueues=True)

    def close(self) -> None:
        """Frees the tables and other hosted resources; variables go with their last reference."""
        with eager_mode():
            for handle in self._host_handles.values():
                tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)
        self._host_handles.clear()
        if self._on_device is not None:
            self._on_device.clear()
        self.variables.clear()
        self.inputs.datasets.clear()
        self.wholes.clear()
        self._have_values.clear()

    def _make_variables(self, nodes: Sequence[Any]) -> dict[str, tf.Variable]:
        if not nodes:
            return {}

        def uninitialized(next_creator: Any, **kwargs: Any) -> tf.Variable:
            del next_creator  # it would run an initial value, which the graph has itself
            settings = ("name", "shape", "dtype", "trainable", "aggregation", "synchronization")
            return UninitializedVariable(
                distribute_strategy=kwargs.get("distribute_strategy"),
                **{k: kwargs[k] for k in settings},
            )

        variables = {}
        with eager_mode(), tf.variable_creator_scope(uninitialized), self._strategy.scope():
            for node in nodes:
                with self._core_scope(node):
                    variables[node.name] = tf.Variable(
                        None,
                        name=_VARIABLE,
                        shape=tf.TensorShape(node.attr["shape"].shape),
                        dtype=tf.as_dtype(node.attr["dtype"].type),
                        trainable=False,
                        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
                    )
        return variables

    def _core_scope(self, node: tf.compat.v1.NodeDef) -> contextlib.AbstractContextManager[Any]:
        """Places a variable on the replica's core that the program names, if there are several."""
        core = core_of(node)
        if not core or cores_per_replica(self._strategy) == 1:
            return contextlib.nullcontext()
        return self._strategy.extended.experimental_logical_device(core)

    def _make_whole(self, node: tf.compat.v1.NodeDef) -> tf.Variable:
        with eager_mode(), tf.device(host_device()):
            return UninitializedVariable(
                name=node.name + "/whole",
                shape=tf.TensorShape(node.attr["shape"].shape),
                dtype=tf.as_dtype(node.attr["dtype"].type),
                trainable=False,
            )

    def _make_hosted(self, name: str) -> tf.Tensor:
        # TF1 sessions had separate resource managers; here all share one, so names are made unique.
        snapshot = Snapshot.of(self._graph)
        node = tf.compat.v1.NodeDef()
        node.CopyFrom(snapshot.nodes[name])
        shared = node.attr["shared_name"].s.decode() or name
        node.attr["shared_name"].s = f"{self._scope}/{shared}".encode()
        is_one_shot = node.op == "OneShotIterator"
        nodes = as_initialized(node) if is_one_shot else [node]
        fetches = [name, "^" + nodes[-1].name] if is_one_shot else [name]
        subgraph = Lifted(snapshot.with_nodes(nodes), fetches)
        with eager_mode(), tf.device(host_device()):
            function = tf.function(lambda: subgraph({}, _no_join)[0], autograph=False)
            return function.get_concrete_function()()


def _no_join(values: Sequence[Any]) -> NoReturn:
    raise AssertionError(f"A resource cannot depend on a cross-replica sum: {values}.")


def _owns_resource(node: tf.compat.v1.NodeDef) -> bool:
    if "shared_name" not in node.attr:
        return False
    definition = op_def(node.op)
    outputs = definition.output_arg if definition else ()
    return any(o.type == tf.resource.as_datatype_enum for o in outputs)
