"""The datasets behind the iterators of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data.dataset_functions import dataset_of_plain_graph
from estimator_bridge.graph import Lifted, LiftedSession, Snapshot
from estimator_bridge.graph.one_shot_iterators import dataset_nodes
from estimator_bridge.graph.snapshot import node_name, tensor_ref

__all__ = ["dataset_behind", "lifted_dataset", "whole_dataset"]


def lifted_dataset(
    session: LiftedSession,
    variant: str,
    spec: Any,
    extra_nodes: Sequence[Any] = (),
) -> tf.data.Dataset:
    """Returns a graph's dataset as an eager dataset.

    Args:
      session: the session of the graph.
      variant: the reference of the tensor that holds the dataset.
      spec: TypeSpecs of an element.
      extra_nodes: NodeDefs to compute as if they were part of the graph.
    """
    value, _ = (None, False) if extra_nodes else dataset_of_plain_graph(session, variant)
    if value is None:
        (value,) = session.evaluate([variant], extra_nodes=extra_nodes)
    return tf.data.experimental.from_variant(value, spec)


def whole_dataset(session: LiftedSession, variant: str, spec: Any) -> tuple[tf.data.Dataset, bool]:
    """Returns a graph's dataset as an eager dataset of which no other is made.

    tf.data does not optimize it if that is of no use: the optimizer copies the dataset's arrays.

    Args:
      session: see ``lifted_dataset``, as the others.
      variant: the reference.
      spec: the TypeSpecs.

    Returns:
      The dataset, and whether that is so. Then a ``prefetch`` would be of no use either.
    """
    value, is_best = dataset_of_plain_graph(session, variant, spec)
    if value is None:
        (value,) = session.evaluate([variant])
    return tf.data.experimental.from_variant(value, spec), is_best


def dataset_behind(
    session: LiftedSession, snapshot: Snapshot, get_next: str, is_alone: bool
) -> tf.data.Dataset | None:
    """Returns the dataset that an IteratorGetNext node reads from its start, in flat components.

    Args:
      session: the session of the graph; the iterators' initializers have run.
      snapshot: the snapshot of the graph.
      get_next: the node.
      is_alone: whether no other node reads from the same iterator.

    Returns:
      None if only the iterator itself can be read: it chooses among datasets, or several nodes
      read from it in turn. It is initialized then.

    Raises:
      FailedPreconditionError: nothing initialized the iterator.
    """
    node = snapshot.nodes[get_next]
    spec = tuple(
        tf.TensorSpec(tf.TensorShape(shape), tf.as_dtype(kind))
        for shape, kind in zip(
            node.attr["output_shapes"].list.shape, node.attr["output_types"].list.type
        )
    )
    iterator = node_name(node.input[0])
    if snapshot.nodes[iterator].op == "OneShotIterator":
        if not is_alone:
            return None
        nodes = dataset_nodes(snapshot.nodes[iterator], snapshot, session.graph)
        return lifted_dataset(session, nodes[-1].name + ":0", spec, nodes)
    if snapshot.nodes[iterator].op != "IteratorV2":
        return None  # a handle names the iterator, or a branch chooses it
    initializers = [
        n
        for n in snapshot.nodes.values()
        if n.op == "MakeIterator" and node_name(n.input[1]) == iterator
    ]
    dataset = session.resources.inputs.datasets.get(iterator)
    if dataset is None:
        _check_can_be_made(session, snapshot, iterator, initializers)
    if len(initializers) > 1:
        return None
    if not is_alone:
        if dataset is None:
            session.evaluate(["^" + initializers[0].name])
        return None
    session.resources.inputs.iterators_read.add(iterator)
    if dataset is None:
        return lifted_dataset(session, tensor_ref(initializers[0].input[0]), spec)
    return tf.data.experimental.from_variant(dataset, spec)


def _check_can_be_made(
    session: LiftedSession, snapshot: Snapshot, iterator: str, initializers: Sequence[Any]
) -> None:
    """Checks that an uninitialized iterator can be initialized here."""
    if len(initializers) != 1:
        raise tf.errors.FailedPreconditionError(
            None,
            None,
            f"input_fn's tensors come from the iterator {iterator!r}, which has not been "
            f"initialized: it has {len(initializers)} initializers in the graph "
            f"({[n.name for n in initializers]}), and none of them was run. Run the one for this "
            "mode in a hook's after_create_session: session.run(initializer); or return the "
            "tf.data.Dataset itself.",
        )
    lifted = Lifted(
        snapshot,
        [tensor_ref(initializers[0].input[0])],
        {f"{name}:0" for name in session.resources.owners},
        session.resources.owners,
    )
    names = [name for name in lifted.names if snapshot.nodes[name].op == "Placeholder"]
    if names:
        raise tf.errors.FailedPreconditionError(
            None,
            None,
            f"input_fn's tensors come from the iterator {iterator!r}, which has not been "
            f"initialized, and its dataset depends on placeholder tensors {names}. Initialize it "
            "in a hook's after_create_session: session.run(iterator.initializer, "
            "feed_dict={placeholder: value}).",
        )
