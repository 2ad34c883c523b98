"""What an input_fn returned, as tensors for the trace and as a dataset for the run.

An input_fn is TF1 code and is called inside a graph. A dataset that it makes there is lifted: the
variant tensor that holds it is computed on the TF2 side and becomes an eager dataset. Tensors
that it returns are followed back to their iterator, whose dataset is lifted the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from estimator_bridge.graph import Lifted, LiftedSession, Snapshot
from estimator_bridge.graph.snapshot import node_name, tensor_ref
from estimator_bridge.model.fn_args import fn_args
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["GraphInput", "call_input_fn", "placeholders"]

_QUEUES = ("QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "ReaderReadV2")


def call_input_fn(input_fn: Callable, graph: tf.Graph, **offered) -> GraphInput:
    """Calls an input_fn inside the graph that is the default one now.

    Args:
      input_fn: returns a Dataset, features, or (features, labels).
      graph: the default graph.
      **offered: values of the arguments that it may take: mode, params, config, input_context.

    Raises:
      TypeError: it is no function, or it returned neither a dataset nor tensors.
      ValueError: it returned a tuple of another length than 2.
    """
    if not callable(input_fn):
        raise TypeError(
            f"input_fn must be a function that returns a tf.data.Dataset or (features, labels), "
            f"got {type(input_fn).__name__}: {input_fn!r}."
        )
    accepted = {name: offered[name] for name in fn_args(input_fn) if name in offered}
    with tf.device("/cpu:0"):
        return GraphInput(graph, input_fn(**accepted))


class GraphInput:
    """The result of an input_fn.

    Attributes:
      spec: TypeSpecs of one batch: (features, labels), or features alone.
    """

    def __init__(self, graph: tf.Graph, result):
        self._graph = graph
        self._dataset = result if isinstance(result, tf.data.Dataset) else None
        self._tensors = None
        if self._dataset is None:
            self._tensors = _checked_tensors(result)
            self.spec = tf.nest.map_structure(tf.type_spec_from_value, self._tensors)
        else:
            self.spec = self._dataset.element_spec
            _checked_length(self.spec)

    @property
    def is_eager(self) -> bool:
        """Whether the dataset was made outside of any graph."""
        return self._dataset is not None and hasattr(self._dataset._variant_tensor, "numpy")

    def graph_batch(self):
        """The tensors of one batch, in the graph: (features, labels) or features.

        They are what the original handed to model_fn: the iterator's own, so that names and
        op-level seeds of what follows are the same. Call it inside the graph.
        """
        if self._tensors is not None:
            return self._tensors
        if self.is_eager:
            return placeholders(self.spec)
        return tf.compat.v1.data.make_initializable_iterator(self._dataset).get_next()

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """The batches, as an eager dataset.

        Args:
          session: of the input's graph; the tables that the input uses are initialised.
        """
        with eager_mode():
            if self._dataset is not None:
                if self.is_eager:
                    return self._dataset
                return _lifted_dataset(session, self._dataset._variant_tensor.name, self.spec)
            return _dataset_of_tensors(session, self._tensors)


def placeholders(spec):
    """Placeholders for a structure of TypeSpecs, composite ones included."""
    flat = [
        tf.compat.v1.placeholder(s.dtype, s.shape)
        for s in tf.nest.flatten(spec, expand_composites=True)
    ]
    return tf.nest.pack_sequence_as(spec, flat, expand_composites=True)


def _checked_length(batch) -> None:
    if isinstance(batch, (tuple, list)) and not hasattr(batch, "_fields") and len(batch) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple, got a "
            f"{type(batch).__name__} of length {len(batch)}: {batch}. Put several features into "
            "a dict: ({'a': a, 'b': b}, labels)."
        )


def _checked_tensors(result):
    if result is None:
        raise TypeError(
            "input_fn returned None. It must return a tf.data.Dataset, features, or a tuple "
            "(features, labels); is a return statement missing?"
        )
    _checked_length(result)
    if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
        features, labels = result
        result = features if labels is None else (features, labels)
    for leaf in tf.nest.flatten(result):
        if isinstance(leaf, tf.data.Dataset):
            raise TypeError(
                "input_fn returned a tuple with a dataset in it. Return one tf.data.Dataset whose "
                "elements are (features, labels): tf.data.Dataset.zip((features, labels))."
            )
        if not (tf.is_tensor(leaf) or hasattr(leaf, "__array__") or _is_plain(leaf)):
            raise TypeError(
                "input_fn must return a tf.data.Dataset, features, or (features, labels) made of "
                f"tensors; got {type(leaf).__name__} ({leaf!r}) in it."
            )
    return tf.nest.map_structure(
        lambda t: t if tf.is_tensor(t) else tf.convert_to_tensor(t), result
    )


def _is_plain(leaf) -> bool:
    return isinstance(leaf, (bool, int, float, str, bytes))


def _lifted_dataset(session: LiftedSession, variant: str, spec, added=()) -> tf.data.Dataset:
    (value,) = session.evaluate([variant], added=added)
    return tf.data.experimental.from_variant(value, spec)


def _dataset_of_tensors(session: LiftedSession, tensors) -> tf.data.Dataset:
    """A dataset whose elements are what these graph tensors would be, run after run."""
    flat = tf.nest.flatten(tensors, expand_composites=True)
    refs = [t.name for t in flat]
    snapshot = Snapshot.of(session.graph)
    sources = _iterator_outputs(snapshot, refs)
    datasets, given = [], []
    for name in sources:
        dataset, outputs = _behind_iterator(session, name)
        datasets.append(dataset)
        given += outputs
    owners = session.resources.owners
    lifted = Lifted(snapshot, refs, {f"{n}:0" for n in owners} | set(given), owners)
    session.resources.prepare(lifted.given)

    def elements(draw, *components):
        values = session.resources.handles(lifted.given)
        values.update(zip(given, tf.nest.flatten(components, expand_composites=True)))
        made = lifted(values, lambda sums: [value for value, _ in sums], draw=draw)
        return tf.nest.pack_sequence_as(tensors, made, expand_composites=True)

    whole = tf.data.Dataset.zip((tf.data.Dataset.counter(), *datasets))
    return whole.map(elements)


def _iterator_outputs(snapshot: Snapshot, refs: list[str]) -> list[str]:
    """The IteratorGetNext nodes that the references come from."""
    found, seen, waiting = [], set(), [node_name(r) for r in refs]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        node = snapshot.nodes[name]
        if node.op in _QUEUES:
            raise NotImplementedError(
                f"input_fn reads from a queue ({name!r}, {node.op}). Queue-based inputs are not "
                "supported; return a tf.data.Dataset instead (tf.data.TextLineDataset, "
                "TFRecordDataset, from_tensor_slices)."
            )
        if node.op == "IteratorGetNext":
            found.append(name)
        else:
            waiting += [node_name(i) for i in node.input]
    return sorted(found)


def _behind_iterator(session: LiftedSession, get_next: str):
    """The dataset that an IteratorGetNext node reads, and the node's output references."""
    snapshot = Snapshot.of(session.graph)
    node = snapshot.nodes[get_next]
    spec = tuple(
        tf.TensorSpec(tf.TensorShape(shape), tf.as_dtype(kind))
        for shape, kind in zip(
            node.attr["output_shapes"].list.shape, node.attr["output_types"].list.type
        )
    )
    outputs = [f"{get_next}:{i}" for i in range(len(spec))]
    iterator = node_name(node.input[0])
    variant: str | None = None
    added: tuple = ()
    if snapshot.nodes[iterator].op == "OneShotIterator":
        call = _dataset_factory_call(snapshot.nodes[iterator])
        variant, added = call.name + ":0", (call,)
    else:
        for other in snapshot.nodes.values():
            if other.op == "MakeIterator" and node_name(other.input[1]) == iterator:
                variant = tensor_ref(other.input[0])
    if variant is None:
        raise NotImplementedError(
            f"input_fn's tensors come from the iterator {iterator!r} "
            f"({snapshot.nodes[iterator].op}), which no dataset of the graph initialises. Return "
            "the tf.data.Dataset itself, or make the iterator with make_one_shot_iterator or "
            "make_initializable_iterator."
        )
    return _lifted_dataset(session, variant, spec, added), outputs


def _dataset_factory_call(iterator):
    """The node that makes a one-shot iterator's dataset, which is a function of no arguments."""
    call = tf.compat.v1.NodeDef(name="dataset_of_" + iterator.name, op="PartitionedCall")
    call.attr["f"].func.CopyFrom(iterator.attr["dataset_factory"].func)
    call.attr["Tin"].list.SetInParent()
    call.attr["Tout"].list.type.append(tf.variant.as_datatype_enum)
    return call
