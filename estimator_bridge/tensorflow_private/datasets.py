"""Iterators of datasets."""

from __future__ import annotations

import ctypes
import functools
import os
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow as tf

# The class of eager datasets' iterators; the public one is their interface.
from tensorflow.python.data.ops.iterator_ops import OwnedIterator

# The tensors that an element consists of, a sparse tensor as one, and an operation on an iterator.
from tensorflow.python.data.util import structure
from tensorflow.python.eager import context

from estimator_bridge.tensorflow_private.names import eager_execution

__all__ = [
    "drawn_by",
    "end_iterator",
    "iterator_resource",
    "iterator_state",
    "watch_ends",
]

_iterators: queue.SimpleQueue[Any] = queue.SimpleQueue()  # its put may be called by a collection
_lock = threading.Lock()
_ending_process: int | None = None
_open: weakref.WeakSet[Any] = weakref.WeakSet()  # the iterators of this process

_GONE = tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError


def iterator_state(iterator: Any) -> tf.Tensor:
    """The position of an eager dataset's iterator, as tf.train.Checkpoint saves it; eager only."""
    return iterator._serialize_to_tensors()["_STATE"]


def iterator_resource(iterator: Any) -> tf.Tensor:
    """The resource tensor of a dataset's iterator."""
    return iterator._iterator_resource


def drawn_by(iterator: Any) -> Callable[[], list[tf.Tensor]]:
    """Returns a function that draws an element and returns its flat components, in graph mode too.

    The public call switches to eager mode and packs a structure, which takes longer than the draw,
    and has another thread draw. The function raises StopIteration if the input has ended.

    Args:
      iterator: of an eager dataset, or an object with the same ``element_spec`` and ``__next__``.
    """
    spec, resource = iterator.element_spec, getattr(iterator, "_iterator_resource", None)
    if resource is None or any(type(leaf) is not tf.TensorSpec for leaf in tf.nest.flatten(spec)):

        def draw_packed() -> list[tf.Tensor]:
            with context.eager_mode():
                return tf.nest.flatten(next(iterator), expand_composites=True)

        return draw_packed

    types = tuple(kind.as_datatype_enum for kind in structure.get_flat_tensor_types(spec))
    flat = structure.get_flat_tensor_shapes(spec)
    shapes = tuple(None if shape.rank is None else shape.as_list() for shape in flat)
    attributes = ("output_types", types, "output_shapes", shapes)
    inputs, count, run = [resource], len(types), context.context()

    def draw() -> list[tf.Tensor]:
        try:
            return eager_execution.execute("IteratorGetNextSync", count, inputs, attributes, run)
        except tf.errors.OutOfRangeError:
            raise StopIteration from None

    return draw


def end_iterator(iterator: Any) -> None:
    """Ends an iterator and the threads of its dataset. Returns at once.

    An iterator's thread for tuning waits twice as long each time, up to a minute, and may miss the
    signal to end. Deleting the iterator waits for that thread, and Python's garbage collection
    deletes it at any point of the program: neither signals nor steps are handled meanwhile. So
    another thread replaces the dataset by an empty one, and deletes it there: ``watch_ends``.

    Args:
      iterator: of an eager dataset, in this process or on another host.
    """
    _iterators.put(iterator)


def watch_ends() -> None:
    """Starts the thread that ends iterators, if this process has none; call it to open an input.

    It cannot be started when an iterator ends: that may be in Python's last garbage collection,
    where no new thread runs, and whoever starts one waits for it forever.
    """
    global _ending_process  # noqa: PLW0603 - there is one thread a process
    with _lock:
        if _ending_process == os.getpid():  # a forked process has no threads of its parent
            return
        _watch_iterators()
        name = "estimator_bridge end of input"
        threading.Thread(target=_end_all, name=name, daemon=True).start()
        _ending_process = os.getpid()


def _watch_iterators() -> None:
    """Lets forked processes never delete the iterators that are opened here from now on.

    Deleting one waits for the threads of its dataset, which a forked process does not have: it
    would wait forever, at the latest when Python ends.
    """
    create = OwnedIterator.__init__
    if hasattr(create, "__wrapped__"):
        return

    @functools.wraps(create)
    def create_and_watch(iterator: Any, *args: Any, **kwargs: Any) -> None:
        create(iterator, *args, **kwargs)
        _open.add(iterator)

    OwnedIterator.__init__ = create_and_watch
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_leave_to_parent)


def _leave_to_parent() -> None:
    global _lock  # noqa: PLW0603 - a thread of the parent may hold it
    _lock = threading.Lock()
    for iterator in _open:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(iterator_resource(iterator)))
    _open.clear()


def _end_all() -> None:
    while True:
        try:
            _empty(_iterators.get())
        except Exception as error:
            tf.compat.v1.logging.debug("While ending an input: %s", error)


def _empty(iterator: Any) -> None:
    spec = iterator.element_spec
    types = tuple(structure.get_flat_tensor_types(spec))
    shapes = tuple(tuple(_sizes(shape)) for shape in structure.get_flat_tensor_shapes(spec))
    if tf.resource in types:
        return  # an empty tensor of resources cannot be made
    resource = iterator_resource(iterator)
    try:
        with context.eager_mode():
            nothing = _empty_dataset(types, shapes, resource.device)
            tf.raw_ops.MakeIterator(dataset=nothing, iterator=resource)
    except _GONE:
        return  # the other host has ended, and the iterator with it


def _sizes(shape: tf.TensorShape) -> list[int]:
    return [size or 0 for size in shape.as_list()] if shape.rank is not None else []


@functools.lru_cache(maxsize=100)
def _empty_dataset(types: tuple[Any, ...], shapes: tuple[Any, ...], device: str) -> tf.Tensor:
    with tf.device(device):
        columns = [_no_rows(kind, shape) for kind, shape in zip(types, shapes)]
        return tf.raw_ops.TensorSliceDataset(components=columns, output_shapes=shapes)


def _no_rows(kind: tf.DType, shape: tuple[int, ...]) -> tf.Tensor:
    if kind != tf.variant:
        return tf.raw_ops.Empty(shape=[0, *shape], dtype=kind)
    some = tf.raw_ops.EmptyTensorList(
        element_dtype=tf.float32, element_shape=-1, max_num_elements=0
    )
    return tf.raw_ops.Fill(dims=[0, *shape], value=some)
