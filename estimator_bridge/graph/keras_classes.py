"""The classes of tf_keras, which are others while a graph is traced than in eager code.

tf_keras gives its classes other base classes where a layer is made in a TF1 graph, for the whole
process. A model that the program made before has other methods then, and fails when it is called
inside a ``tf.function``. So the bases are put back when no graph is being traced any more, and
given again while hooks may add to a graph, by layers that its model_fn made.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

__all__ = ["graph_classes"]

_lock = threading.Lock()
_open: list[tf.Graph] = []  # what is being traced, by all threads
_before: dict[Any, tuple[Any, ...]] = {}  # the bases when the first of them began
_in_graphs: weakref.WeakKeyDictionary[tf.Graph, dict[Any, tuple[Any, ...]]] = (
    weakref.WeakKeyDictionary()
)  # those that a trace changed


@contextlib.contextmanager
def graph_classes(graph: tf.Graph) -> Iterator[None]:
    """Is open while layers are made in a graph; puts the classes back at the end.

    Where several threads trace, the last one to end does so: the others' layers need the classes
    as they are.

    Args:
      graph: where it was open before, the classes are again as they were at its end.
    """
    with _lock:
        if not _open:
            _before.update((kind, kind.__bases__) for kind in _below(_layer_class()))
        _open.append(graph)
        _set_bases(_in_graphs.get(graph, {}))
    try:
        yield
    finally:
        with _lock:
            changed = {k: k.__bases__ for k, bases in _before.items() if k.__bases__ != bases}
            if changed:
                _in_graphs[graph] = changed
            _open.remove(graph)
            if not _open:
                _set_bases(_before)
                _before.clear()


def _set_bases(wanted: dict[Any, tuple[Any, ...]]) -> None:
    for kind, bases in wanted.items():
        if kind.__bases__ != bases:
            kind.__bases__ = bases


def _layer_class() -> Any:
    """The class of tf_keras' layers; None where nobody has loaded tf_keras, or made a model."""
    return getattr(getattr(sys.modules.get("tf_keras"), "layers", None), "Layer", None)


def _below(kind: Any) -> Iterator[Any]:
    for subclass in kind.__subclasses__() if kind else ():
        yield subclass
        yield from _below(subclass)
