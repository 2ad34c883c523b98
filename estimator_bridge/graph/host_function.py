"""The compiled host function behind one kind of ``LiftedSession.run`` call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.lift import Lifted
from estimator_bridge.graph.replica_local import replica_locals
from estimator_bridge.graph.resources import Resources, host_device
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref
from estimator_bridge.tensorflow_private import eager_mode, flat_call

__all__ = ["HostFunction"]


class HostFunction:
    """One set of fetches and feeds, compiled.

    Args:
      graph: the traced graph.
      strategy: the strategy that owns the variables.
      resources: the variables and tables behind the graph.
      refs: references to compute: 'a:0' and '^a'.
      feed_names: sorted tensor references whose values a call supplies.
      added: NodeDefs to compute as if they were part of the graph.

    Attributes:
      random_names: the nodes whose results depend on the number of the call (``rng_step``).
    """

    def __init__(
        self,
        graph: tf.Graph,
        strategy: tf.distribute.Strategy,
        resources: Resources,
        refs: Sequence[str],
        feed_names: Sequence[str],
        added: Iterable[tf.compat.v1.NodeDef],
    ):
        owners = resources.owners
        given = {f"{name}:0" for name in owners} | set(feed_names)
        snapshot = replica_locals(graph).for_session(Snapshot.of(graph)).with_nodes(added)
        lifted = Lifted(snapshot, refs, given, owners)
        _check_fed(snapshot, lifted, refs)
        resources.check_not_read_elsewhere(lifted.names)
        self._datasets = _initialized_iterators(snapshot, lifted)
        wanted = [*refs, *self._datasets.values()]
        if self._datasets:
            lifted = Lifted(snapshot, wanted, given, owners)
        self._lifted = lifted
        self._graph = graph  # py_function's callables live as long as their graph
        resources.prepare(lifted.given)
        self._resources = resources
        self._replicas = strategy.num_replicas_in_sync
        written = [n for n in lifted.writes if n in resources.variables]
        self._stale = written if self._replicas > 1 else []
        self._used = {ref[: -len(":0")] for ref in lifted.given}
        self._restored = _written_in_any_shape(graph, snapshot, lifted) & resources.variables.keys()
        self.random_names = lifted.random_names
        keep = [i for i, ref in enumerate(wanted) if not ref.startswith("^")]
        self._function: Any = None
        # Whether a call only calls the function, and whether a call has succeeded.
        self._is_plain = self._was_called = False
        if not keep and all(snapshot.nodes[name].op == "NoOp" for name in lifted.names):
            return  # many init ops initialize nothing

        def function(rng_step: tf.Tensor, *fed: tf.Tensor) -> list[tf.Tensor]:
            values = {**resources.handles(lifted.given), **dict(zip(feed_names, fed))}
            results = lifted(values, self._join_alone, rng_step=rng_step)
            operations = [r for r in results if isinstance(r, tf.Operation)]
            with tf.control_dependencies(operations):
                return [tf.identity(results[i]) for i in keep]

        signature = [tf.TensorSpec([], tf.int64)]
        signature += [_spec_of(graph.get_tensor_by_name(name)) for name in feed_names]
        with eager_mode(), tf.device(host_device()):
            compiled = tf.function(function, autograph=False)
            self._function = flat_call(compiled.get_concrete_function(*signature))
            self._first_draw = tf.constant(0, tf.int64)
        self._is_plain = not (
            self._datasets or self._restored or self._stale or resources.combines(self._used)
        )

    def __call__(self, feeds: Mapping[str, Any], rng_step: int) -> list[tf.Tensor]:
        """Returns the eager tensors of the references that are not operations.

        Args:
          feeds: values by feed name.
          rng_step: how often the random operations have run before.
        """
        if self._function is None:
            return []
        if self._is_plain and self._was_called and not feeds and not rng_step:
            return self._function(self._first_draw)  # three times faster than the code below
        names = sorted(feeds)
        with eager_mode(), tf.device(host_device()):
            self._resources.check_values(self._lifted.reads_first)
            _check_not_read(self._resources, self._datasets)
            self._resources.combine(self._used)
            fed = [tf.convert_to_tensor(feeds[n]) for n in names]
            results = self._function(tf.constant(rng_step, tf.int64), *fed)
            if self._datasets:
                results, datasets = results[: -len(self._datasets)], results[-len(self._datasets) :]
                self._resources.datasets.update(zip(self._datasets, datasets))
            for name in self._restored:
                _check_shape(self._resources.session_copy(name), name)
            self._resources.deal_out(self._stale, self._lifted.names)
        self._was_called = True
        return results

    def _join_alone(self, values: Sequence[tuple[tf.Tensor, Any]]) -> list[tf.Tensor]:
        if self._replicas > 1:
            raise NotImplementedError(
                "session.run() was asked for a value that needs a cross-replica sum over "
                f"{self._replicas} replicas, but a session runs on the host alone. Fetch it in "
                "the training step instead: from a hook's before_run, or as a host_call tensor."
            )
        return [value for value, _ in values]


def _initialized_iterators(snapshot: Snapshot, lifted: Lifted) -> dict[str, str]:
    """Maps each iterator that these nodes initialize to the reference of its dataset."""
    nodes = (snapshot.nodes[name] for name in lifted.names)
    return {
        node_name(node.input[1]): tensor_ref(node.input[0])
        for node in nodes
        if node.op == "MakeIterator"
    }


def _check_not_read(resources: Resources, iterators: dict[str, str]) -> None:
    again = sorted(resources.iterators_read.intersection(iterators))
    if again:
        raise NotImplementedError(
            f"The iterator {again[0]!r} was initialized again while the model reads its dataset, "
            "which has no effect. To switch datasets, make the iterator with "
            "tf.compat.v1.data.Iterator.from_structure(types, shapes) and one "
            "iterator.make_initializer(dataset) for each dataset."
        )


def _check_fed(snapshot: Snapshot, lifted: Lifted, refs: Sequence[str]) -> None:
    for name in lifted.names:
        if snapshot.nodes[name].op == "Placeholder":
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"You must feed a value for placeholder tensor {name!r} to compute {refs}: pass "
                f"feed_dict={{{name + ':0'!r}: value}}.",
            )


def _written_in_any_shape(graph: tf.Graph, snapshot: Snapshot, lifted: Lifted) -> set[str]:
    """Returns the variables that are assigned a value of statically unknown shape."""
    assigned = set()
    for name in lifted.names:
        if snapshot.nodes[name].op != "AssignVariableOp":
            continue
        operation = graph.get_operation_by_name(name)
        if not operation.inputs[1].shape.is_fully_defined():
            assigned.add(operation.inputs[0].op.name)
    return assigned


def _check_shape(variable: tf.Variable, name: str) -> None:
    # The kernel accepts any shape; the program would fail later, or broadcast silently.
    value = variable.read_value()
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
