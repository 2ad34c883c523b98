"""Infeed and outfeed of emulated cores, as queues of the graph.

A program that drives a TPU by itself enqueues batches on the host (``infeed_enqueue_tuple``), and
its computation dequeues them on the core. Results go the other way (``outfeed_enqueue_tuple``,
``outfeed_dequeue_tuple``). Without a TPU, TensorFlow has no kernels for these operations, so each
is replaced by an operation on a ``tf.queue.FIFOQueue``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.tensorflow_private.graphs import Maker, control_flow_context

__all__ = ["CAPACITY", "FEEDS", "core_is", "current_core", "program_graph"]

# The number of batches that each core's queue holds before an enqueue waits. A TPU's limit is its
# memory.
CAPACITY = 16


class _Core(threading.local):
    number: int | None = None
    computation: object = None  # a token for the computation that is being built for the core


_core = _Core()


def current_core() -> int | None:
    """Returns the ordinal of the core whose operations are being created; None for no core."""
    return _core.number


@contextlib.contextmanager
def core_is(number: int) -> Iterator[None]:
    """A context that sets the core whose operations are being created."""
    before = _core.number, _core.computation
    _core.number, _core.computation = number, object()
    try:
        yield
    finally:
        _core.number, _core.computation = before


def program_graph() -> tf.Graph:
    """Returns the graph that a session runs, also inside the body of a loop or a branch."""
    graph = tf.compat.v1.get_default_graph()
    while hasattr(graph, "outer_graph"):
        graph = graph.outer_graph
    return graph


class _Kind(NamedTuple):
    """The dtypes and shapes of the tensors of one transfer."""

    types: tuple[tf.DType, ...]
    shapes: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        parts = (f"{t.name}{list(s)}" for t, s in zip(self.types, self.shapes))
        return f"({', '.join(parts)})"


class _Feed:
    """The transfers in one graph between the host and one core, in one direction."""

    def __init__(self, title: str):
        self._title = title
        self._queues: dict[_Kind, tf.queue.FIFOQueue] = {}
        self._operations: dict[str, list[tuple[_Kind, str]]] = {"enqueue": [], "dequeue": []}
        self._last: dict[Any, tf.Operation] = {}

    def enqueue(self, kind: _Kind, tensors: Sequence[tf.Tensor], name: str) -> tf.Operation:
        queue = self._queue(kind, "enqueue", name)
        return self._in_order(lambda: queue.enqueue(tensors, name=name))

    def dequeue(self, kind: _Kind, name: str) -> tf.Operation:
        queue = self._queue(kind, "dequeue", name)
        return self._in_order(lambda: tf.nest.flatten(queue.dequeue(name=name))[0].op)

    def _queue(self, kind: _Kind, side: str, name: str) -> tf.queue.FIFOQueue:
        """Returns the queue for tuples of a kind; training and evaluation may each have one."""
        (other,) = {"enqueue", "dequeue"} - {side}
        mine, others = ({kind for kind, _ in self._operations[one]} for one in (side, other))
        if kind not in others:
            for other_kind, its_name in self._operations[other]:
                if other_kind not in mine:
                    raise ValueError(
                        f"{name!r} must {side} {kind}, but {its_name!r} {other}s {other_kind} in "
                        f"the same {self._title}. Give both the same dtypes and shapes."
                    )
        self._operations[side].append((kind, name))
        if kind not in self._queues:
            graph = program_graph()
            with graph.as_default(), tf.control_dependencies(None), graph.device(None):
                title = self._title.replace(" ", "_")
                self._queues[kind] = tf.queue.FIFOQueue(
                    CAPACITY, kind.types, kind.shapes, name=title
                )
        return self._queues[kind]

    def _in_order(self, make: Callable[[], tf.Operation]) -> tf.Operation:
        """Creates an operation; operations of one computation run in the order of creation."""
        graph = tf.compat.v1.get_default_graph()
        with graph.device(None):
            if current_core() is None:
                return make()
            place = (graph, control_flow_context(graph), _core.computation)
            before = [self._last[place]] if place in self._last else []
            with tf.control_dependencies(before):
                self._last[place] = operation = make()
        return operation


def _feed(direction: str, core: int) -> _Feed:
    graph = program_graph()
    if not hasattr(graph, "_estimator_bridge_feeds"):  # feeds live as long as their graph
        graph._estimator_bridge_feeds = {}
    feeds = graph._estimator_bridge_feeds
    return feeds.setdefault((direction, core), _Feed(f"{direction} of core {core}"))


def _on_core(name: str) -> int:
    core = current_core()
    if core is None:
        raise ValueError(
            f"{name!r} is an operation of a core. Create it in a function that tpu.rewrite, "
            "replicate, shard or batch_parallel runs on a core."
        )
    return core


def _from_host(name: str, attrs: Mapping[str, Any]) -> int:
    ordinal = attrs["device_ordinal"].i if "device_ordinal" in attrs else -1
    if ordinal >= 0:
        return ordinal
    core = current_core()
    if core is None:
        raise ValueError(
            f"{name!r} needs device_ordinal=, the core that it feeds or reads from (0 for the "
            f"first). Got {ordinal}, which means the operation's own core, but the operation is "
            "not on a core."
        )
    return core


def _kind(attrs: Mapping[str, Any], inputs: Sequence[tf.Tensor], name: str) -> _Kind:
    """Returns the fed dtypes and shapes, from the operation's attributes or else its inputs."""
    if "shapes" in attrs:
        shapes = [tf.TensorShape(shape) for shape in attrs["shapes"].list.shape]
    elif "shape" in attrs:
        shapes = [tf.TensorShape(attrs["shape"].shape)]
    else:
        shapes = [x.shape for x in inputs]
    if inputs:
        types = [x.dtype for x in inputs]
    elif "dtypes" in attrs:
        types = [tf.as_dtype(number) for number in attrs["dtypes"].list.type]
    else:
        types = [tf.as_dtype(attrs["dtype"].type)]
    if len(shapes) != len(types):
        raise ValueError(f"{name!r} has {len(types)} tensors and {len(shapes)} shapes.")
    for number, shape in enumerate(shapes):
        if not shape.is_fully_defined():
            raise ValueError(
                f"{name!r} feeds a TPU, which needs static shapes; tensor {number} has shape "
                f"{shape}. Batch with drop_remainder=True, or call set_shape."
            )
    for number, (x, shape) in enumerate(zip(inputs, shapes)):
        if not x.shape.is_compatible_with(shape):
            raise ValueError(
                f"{name!r} got shape {shape} for tensor {number}, {x.name!r}, which has shape "
                f"{x.shape}. Pass the tensor's own shape."
            )
    return _Kind(tuple(types), tuple(tuple(shape.as_list()) for shape in shapes))


def _infeed_enqueue(inputs: Sequence[tf.Tensor], name: str | None, attrs: Any) -> Any:
    if _is_an_estimators():
        return None
    name = name or "infeed_enqueue"
    feed = _feed("infeed", _from_host(name, attrs))
    return feed.enqueue(_kind(attrs, inputs, name), inputs, name)


def _infeed_dequeue(inputs: Sequence[tf.Tensor], name: str | None, attrs: Any) -> Any:
    if _is_an_estimators():
        return None
    name = name or "infeed_dequeue"
    return _feed("infeed", _on_core(name)).dequeue(_kind(attrs, inputs, name), name)


def _outfeed_enqueue(inputs: Sequence[tf.Tensor], name: str | None, attrs: Any) -> Any:
    if _is_an_estimators():
        return None
    name = name or "outfeed_enqueue"
    return _feed("outfeed", _on_core(name)).enqueue(_kind(attrs, inputs, name), inputs, name)


def _outfeed_dequeue(inputs: Sequence[tf.Tensor], name: str | None, attrs: Any) -> Any:
    if _is_an_estimators():
        return None
    name = name or "outfeed_dequeue"
    feed = _feed("outfeed", _from_host(name, attrs))
    return feed.dequeue(_kind(attrs, inputs, name), name)


def _is_an_estimators() -> bool:
    """Returns whether a TPUEstimator is tracing its model; only input_fn feeds its steps."""
    from estimator_bridge.model.cross_shard import number_of_shards

    return current_core() is None and number_of_shards() is not None


# By op type: the function that makes its replacement.
FEEDS: dict[str, Maker] = {
    "InfeedDequeue": _infeed_dequeue,
    "InfeedDequeueTuple": _infeed_dequeue,
    "InfeedEnqueue": _infeed_enqueue,
    "InfeedEnqueueTuple": _infeed_enqueue,
    "OutfeedDequeue": _outfeed_dequeue,
    "OutfeedDequeueTuple": _outfeed_dequeue,
    "OutfeedEnqueue": _outfeed_enqueue,
    "OutfeedEnqueueTuple": _outfeed_enqueue,
}
