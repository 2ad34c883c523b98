"""Converts graph tensors, and datasets of a graph, to eager datasets.

Most tensors come from an iterator whose dataset is known, or from a queue whose rows are in
memory. Batches are read there, and the graph's operations after it are mapped over them. Other
sources with state, such as a queue, a reader, or an iterator that chooses among datasets, stay in
the graph: each run of the graph computes one element, and OutOfRangeError ends the dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data.dataset_functions import as_it_is
from estimator_bridge.data.graph_iterators import dataset_behind
from estimator_bridge.data.returned_tensors import is_plain
from estimator_bridge.data.row_queues import RowQueueRunner
from estimator_bridge.graph import Lifted, LiftedSession, Snapshot
from estimator_bridge.graph.op_kinds import DEQUEUES
from estimator_bridge.graph.snapshot import node_name

__all__ = ["dataset_of_tensors"]


def dataset_of_tensors(
    session: LiftedSession,
    leaves: Sequence[tf.Tensor],
    spec: Any,
    sources_too: list[str] | None = None,
) -> tf.data.Dataset:
    """Returns a dataset whose elements are the values of graph tensors, run after run.

    Args:
      session: the session of the graph.
      leaves: tensors of the graph, and eager tensors, which are the same in all elements.
      spec: the elements' structure, whose flat components are the leaves.
      sources_too: receives the references of the leaves' sources: components of known datasets
        that are not leaves themselves. Elements are then tuples that have these after the leaves.

    Raises:
      InvalidArgumentError: the tensors depend on a placeholder.
      FailedPreconditionError: they come from an iterator that nothing initialized.
      NotImplementedError: they come from a source that cannot run here.
    """
    if not leaves:  # a dataset's elements have at least one component
        return tf.data.Dataset.from_tensors(0).repeat()
    refs = [leaf.name for leaf in leaves if not is_plain(leaf)]
    snapshot = Snapshot.of(session.graph)
    sources = _sources(session, snapshot, refs)
    elements = _Elements(session, snapshot, leaves, sources)
    session.resources.inputs.nodes_replaced.update(sources)
    whole = tf.data.Dataset.zip((tf.data.Dataset.counter(), *sources.values()))
    if elements.has_state:
        # A hook may initialize the iterator again, or fill the queue: nothing is read ahead.
        whole = whole.with_options(as_it_is())
    if sources_too is not None:
        kinds = {
            f"{name}:{i}": part
            for name, source in sources.items()
            for i, part in enumerate(source.element_spec)
        }
        more = [ref for ref in kinds if ref not in refs]
        sources_too.extend(more)
        elements.hand_on(more)
        flat = tf.nest.flatten(spec, expand_composites=True)
        return _map_to_the_end(whole, elements, (*flat, *map(kinds.__getitem__, more)))
    is_dense = all(isinstance(s, tf.TensorSpec) for s in tf.nest.flatten(spec))
    if is_dense:
        return _map_to_the_end(whole, elements, spec)
    flat_spec = tuple(tf.nest.flatten(spec, expand_composites=True))
    return _map_to_the_end(whole, elements, flat_spec).map(
        lambda *flat: tf.nest.pack_sequence_as(spec, flat, expand_composites=True)
    )


class _Elements:
    """A run of the graph, as a function of its sources' elements.

    Attributes:
      has_state: whether it reads from its own queues or iterators.
    """

    def __init__(
        self,
        session: LiftedSession,
        snapshot: Snapshot,
        leaves: Sequence[tf.Tensor],
        sources: Mapping[str, tf.data.Dataset],
    ):
        self._graph = session.graph  # py_func's callables live as long as their graph
        self._resources = session.resources
        self._source_refs = [
            f"{name}:{i}"
            for name, source in sources.items()
            for i in range(len(source.element_spec))
        ]
        owners = self._resources.owners
        from_outside = {f"{name}:0" for name in owners} | set(self._source_refs)
        self._leaves = leaves
        refs = [leaf.name for leaf in leaves if not is_plain(leaf)]
        self._lifted = Lifted(snapshot, refs, from_outside, owners)
        _check_not_fed(snapshot, self._lifted)
        self._resources.prepare(self._lifted.input_refs)
        types = [
            snapshot.nodes[n].op for n in map(node_name, self._lifted.input_refs) if n in owners
        ]
        self.has_state = any("Table" not in op for op in types)
        self._handed_on: list[str] = []

    def hand_on(self, refs: Sequence[str]) -> None:
        """Adds components of the sources to the elements."""
        self._handed_on = list(refs)

    def __call__(self, rng_step: tf.Tensor, *components: tf.Tensor) -> list[tf.Tensor]:
        values = self._resources.handles(self._lifted.input_refs)
        values.update(zip(self._source_refs, components))
        values_of_tensors = iter(
            self._lifted(values, lambda sums: [value for value, _ in sums], rng_step=rng_step)
        )
        sources = dict(zip(self._source_refs, components))
        leaves = [leaf if is_plain(leaf) else next(values_of_tensors) for leaf in self._leaves]
        return [*leaves, *(sources[ref] for ref in self._handed_on)]


def _sources(
    session: LiftedSession, snapshot: Snapshot, refs: Sequence[str]
) -> dict[str, tf.data.Dataset]:
    """Returns the datasets that replace nodes, by node, and the nodes that refs come from."""
    queues = {
        runner.queue.queue_ref.op.name: runner
        for runner in session.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
        if isinstance(runner, RowQueueRunner)
    }
    datasets: dict[str, tf.data.Dataset] = {}
    inputs = session.resources.inputs
    draws = _draws(snapshot, refs)
    for name in draws:
        node = snapshot.nodes[name]
        owner = node_name(node.input[0])
        if node.op in DEQUEUES and owner in queues:
            datasets[name] = queues[owner].read_directly(not inputs.keeps_positions)
        elif node.op == "IteratorGetNext":
            is_alone = sum(node_name(snapshot.nodes[d].input[0]) == owner for d in draws) == 1
            dataset = dataset_behind(session, snapshot, name, is_alone)
            if dataset is not None:
                datasets[name] = dataset
    return datasets


def _draws(snapshot: Snapshot, refs: Sequence[str]) -> list[str]:
    """Returns the nodes that read from an iterator or a queue, and that the refs depend on."""
    names, visited, waiting = [], set(), [node_name(r) for r in refs]
    while waiting:
        name = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        node = snapshot.nodes[name]
        if node.op.startswith("MultiDeviceIterator"):
            raise NotImplementedError(
                f"input_fn's tensors come from a multi-device iterator ({name!r}), which hands "
                "batches to devices by itself. Return the tf.data.Dataset, and let the "
                "estimator's strategy divide its batches."
            )
        if node.op == "IteratorGetNext" or node.op in DEQUEUES:
            names.append(name)
        waiting += [node_name(i) for i in node.input]
    return sorted(names)


def _check_not_fed(snapshot: Snapshot, lifted: Lifted) -> None:
    for name in lifted.names:
        if snapshot.nodes[name].op == "Placeholder":
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                "You must feed a value for placeholder tensor "
                f"{name!r}: what input_fn returned depends on it, and steps run without feeds. "
                "Return a tf.data.Dataset; a generator (tf.data.Dataset.from_generator) reads what "
                "the program has in memory.",
            )


def _map_to_the_end(dataset: tf.data.Dataset, function: Any, spec: Any) -> tf.data.Dataset:
    """Returns ``dataset.map``, which an OutOfRangeError inside the function ends, as in a run."""
    inputs, outputs = tf.nest.flatten(dataset.element_spec), tf.nest.flatten(spec)
    compiled = tf.function(function, autograph=False).get_concrete_function(*inputs)
    variant = tf.raw_ops.MapDataset(
        input_dataset=tf.data.experimental.to_variant(dataset),
        other_arguments=compiled.captured_inputs,
        f=compiled,
        output_types=[s.dtype for s in outputs],
        output_shapes=[s.shape for s in outputs],
        preserve_cardinality=False,
    )
    result = tf.data.experimental.from_variant(variant, spec)
    result.function_held = compiled  # the runtime forgets a function with its last Python reference
    return result
