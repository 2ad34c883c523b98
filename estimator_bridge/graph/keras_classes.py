"""Restores the base classes of tf_keras layers after a graph trace.

When a layer is made in a TF1 graph, tf_keras replaces the base classes of its classes, for the
whole process. A model made before then has other methods, and fails when it is called inside a
``tf.function``. So the original bases are restored when no trace is open, and the graph bases are
set again while hooks may add to a graph through layers that its model_fn made.
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
    """Restores the classes' bases when it closes; open it while layers are made in a graph.

    If several threads trace, the last one to finish restores the bases, because the others'
    layers still need theirs.

    Args:
      graph: the graph. If it was entered before, its bases from then are set again.
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
            graph_bases = {k: k.__bases__ for k, bases in _before.items() if k.__bases__ != bases}
            if graph_bases:
                _in_graphs[graph] = graph_bases
            _open.remove(graph)
            if not _open:
                _set_bases(_before)
                _before.clear()


def _set_bases(bases_by_class: dict[Any, tuple[Any, ...]]) -> None:
    for kind, bases in bases_by_class.items():
        if kind.__bases__ != bases:
            kind.__bases__ = bases


def _layer_class() -> Any:
    """Returns tf_keras' layer class, or None if tf_keras is not loaded."""
    return getattr(getattr(sys.modules.get("tf_keras"), "layers", None), "Layer", None)


def _below(kind: Any) -> list[Any]:
    kinds = kind.__subclasses__() if kind else []
    for each in kinds:  # which grows meanwhile
        kinds += each.__subclasses__()
    return kinds
