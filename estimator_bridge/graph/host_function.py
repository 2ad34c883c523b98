"""The host function behind one kind of ``LiftedSession.run`` call."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.dataset_rewrites import makes_batches, with_datasets_rewritten
from estimator_bridge.graph.divided_restores import with_restores_divided
from estimator_bridge.graph.lift import Lifted
from estimator_bridge.graph.replica_local import replica_locals
from estimator_bridge.graph.resources import Resources, host_device
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref
from estimator_bridge.graph.tiered_function import TieredFunction
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["HostFunction"]

_SMALL = 1 << 24  # bytes of a variable; intermediate values are not computed in place


@dataclasses.dataclass(frozen=True)
class _Effects:
    """The effects of a call on variables and iterators.

    Attributes:
      datasets: by iterator that it initializes, the reference of its dataset.
      resource_names: the variables that it reads or writes.
      restored: the variables to which it may assign any shape.
      stale: the variables whose other copies, if there are any, differ after it.
    """

    datasets: Mapping[str, str]
    resource_names: Collection[str]
    restored: Collection[str]
    stale: Collection[str]


class HostFunction:
    """One set of fetches and feeds.

    Args:
      graph: the traced graph.
      resources: the variables and tables behind the graph.
      refs: references to compute: 'a:0' and '^a'.
      feed_names: sorted tensor references whose values a call supplies.
      extra_nodes: NodeDefs to compute as if they were part of the graph.
      divides_restores: whether a checkpoint may be read by several operations.

    Attributes:
      random_names: the nodes whose results depend on the number of the call (``rng_step``).
    """

    def __init__(
        self,
        graph: tf.Graph,
        resources: Resources,
        refs: Sequence[str],
        feed_names: Sequence[str],
        extra_nodes: Iterable[tf.compat.v1.NodeDef],
        divides_restores: bool = True,
    ):
        owners = resources.owners
        input_refs = {f"{name}:0" for name in owners} | set(feed_names)
        snapshot = replica_locals(graph).for_session(Snapshot.of(graph)).with_nodes(extra_nodes)
        subgraph = Lifted(snapshot, refs, input_refs, owners)
        if not resources.inputs.keeps_positions and makes_batches(snapshot, subgraph.names):
            snapshot = with_datasets_rewritten(snapshot, graph)
            subgraph = Lifted(snapshot, refs, input_refs, owners)
        self._undivided: Callable[[], HostFunction] | None = None
        whole = snapshot
        if divides_restores:
            snapshot = with_restores_divided(snapshot, subgraph.names, graph)
        if snapshot is not whole:
            self._undivided = functools.partial(
                HostFunction, graph, resources, refs, feed_names, extra_nodes, False
            )
            subgraph = Lifted(snapshot, refs, input_refs, owners)
        _check_fed(snapshot, subgraph, refs)
        resources.inputs.check_not_read_elsewhere(subgraph.names)
        datasets = _initialized_iterators(snapshot, subgraph)
        all_refs = [*refs, *datasets.values()]
        if datasets:
            subgraph = Lifted(snapshot, all_refs, input_refs, owners)
        self._lifted = subgraph
        self._graph = graph  # py_function's callables live as long as their graph
        resources.prepare(subgraph.input_refs)
        self._resources = resources
        assigned_variables = [n for n in subgraph.writes if n in resources.variables]
        self._effects = effects = _Effects(
            datasets,
            resource_names={ref[: -len(":0")] for ref in subgraph.input_refs},
            restored=_written_in_any_shape(graph, snapshot, subgraph) & resources.variables.keys(),
            stale=assigned_variables,
        )
        self.random_names = subgraph.random_names
        keep = [i for i, ref in enumerate(all_refs) if not ref.startswith("^")]
        joint_copies = resources.wholes.among(effects.resource_names)
        has_copies = resources.wholes.replicas > 1 and bool(assigned_variables)
        # True if a call only calls the function, and if a call has succeeded.
        self._is_plain = not (datasets or effects.restored or has_copies or joint_copies)
        self._was_called = False
        self._function: TieredFunction | None = None
        # Many init ops initialize nothing.
        if keep or any(snapshot.nodes[name].op != "NoOp" for name in subgraph.names):
            is_small = resources.largest(effects.resource_names) <= _SMALL
            self._function = TieredFunction(
                subgraph,
                resources,
                {name: _spec_of(graph.get_tensor_by_name(name)) for name in feed_names},
                keep,
                self._join_alone,
                may_run_alone=is_small and not datasets and self._undivided is None,
            )

    @property
    def input_refs(self) -> Collection[str]:
        """The references whose values it takes or holds."""
        return self._lifted.input_refs

    def __call__(self, feeds: Mapping[str, Any], rng_step: int) -> list[tf.Tensor]:
        """Returns the eager tensors of the references that are not operations.

        Args:
          feeds: values by feed name.
          rng_step: how often the random operations have run before.
        """
        if self._function is None:
            return []
        is_bare = self._is_plain and self._was_called and self._resources.on_device is None
        if is_bare and self._function.is_compiled and not feeds and not rng_step:
            return self._function.call_bare()
        names, effects = sorted(feeds), self._effects
        with eager_mode(), tf.device(host_device()):
            self._resources.check_values(self._lifted.reads_first)
            self._resources.inputs.check_initialized_once(effects.datasets)
            self._resources.combine(effects.resource_names)
            feed_values = [tf.convert_to_tensor(feeds[n]) for n in names]
            try:
                results = self._function(feed_values, rng_step)
            except tf.errors.OpError:
                if self._undivided is None:
                    raise
                # One operation's error does not depend on which part fails first.
                return self._undivided()(feeds, rng_step)
            if effects.datasets:
                count = len(effects.datasets)
                results, datasets = results[:-count], results[-count:]
                self._resources.inputs.datasets.update(zip(effects.datasets, datasets))
            for name in effects.restored:
                _check_shape(self._resources.session_copy(name), name)
            if self._resources.wholes.replicas > 1 or self._resources.on_device is not None:
                self._resources.deal_out(effects.stale, self._lifted.names)
        self._was_called = True
        return results

    def _join_alone(self, values: Sequence[tuple[tf.Tensor, Any]]) -> list[tf.Tensor]:
        replicas = self._resources.wholes.replicas
        if replicas > 1:
            raise NotImplementedError(
                "session.run() was asked for a value that needs a cross-replica sum over "
                f"{replicas} replicas, but a session runs on the host alone. Fetch it in "
                "the training step instead: from a hook's before_run, or as a host_call tensor."
            )
        return [value for value, _ in values]


def _initialized_iterators(snapshot: Snapshot, subgraph: Lifted) -> dict[str, str]:
    """Maps each iterator that these nodes initialize to the reference of its dataset."""
    nodes = (snapshot.nodes[name] for name in subgraph.names)
    return {
        node_name(node.input[1]): tensor_ref(node.input[0])
        for node in nodes
        if node.op == "MakeIterator"
    }


def _check_fed(snapshot: Snapshot, subgraph: Lifted, refs: Sequence[str]) -> None:
    for name in subgraph.names:
        if snapshot.nodes[name].op == "Placeholder":
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"You must feed a value for placeholder tensor {name!r} to compute {refs}: pass "
                f"feed_dict={{{name + ':0'!r}: value}}.",
            )


def _written_in_any_shape(graph: tf.Graph, snapshot: Snapshot, subgraph: Lifted) -> set[str]:
    """Returns the variables that are assigned a value of statically unknown shape."""
    variables = set()
    for name in subgraph.names:
        if snapshot.nodes[name].op != "AssignVariableOp":
            continue
        operation = graph.get_operation_by_name(name)
        if not operation.inputs[1].shape.is_fully_defined():
            variables.add(operation.inputs[0].op.name)
    return variables


def _check_shape(variable: tf.Variable, name: str) -> None:
    # The kernel accepts any shape; the program would fail later, or broadcast silently. A restore
    # checks all variables, and the method `read_value` takes three times as long as its operation.
    value = tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype)
    if not variable.shape.is_compatible_with(value.shape):
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"Variable {name!r} has shape {variable.shape} in this graph, and was assigned a value "
            f"of shape {value.shape}. Is the checkpoint from another model or other sizes? "
            "tf.train.list_variables(path) shows its contents.",
        )


def _spec_of(tensor: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(tensor.shape, tensor.dtype)
