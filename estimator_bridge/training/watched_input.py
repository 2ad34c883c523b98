"""Decides whether code of the program runs where it could change a file that steps read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.tensorflow_private.hooks import listeners_of
from estimator_bridge.tf_contrib.package import is_of_library

__all__ = ["is_watched"]

_train = tf.compat.v1.train
_PYTHON = frozenset({"EagerPyFunc", "PyFunc"})


def is_watched(graph: tf.Graph, hooks: Sequence[Any]) -> bool:
    """Returns whether code of the program runs between two steps, or within one.

    Args:
      graph: the graph of the steps.
      hooks: all hooks of the run.
    """
    return any(map(_is_of_program, hooks)) or _calls_python(graph)


def _is_of_program(hook: Any) -> bool:
    """Whether a hook, or what it calls, is of the program."""
    objects = [hook]
    if isinstance(hook, _train.CheckpointSaverHook):
        objects += listeners_of(hook)
    return isinstance(hook, _train.FeedFnHook) or any(
        not _is_of_library(type(one).__module__) for one in objects
    )


def _is_of_library(module: str) -> bool:
    """Whether a module is of this library or TensorFlow; none of their hooks changes an input."""
    return module.partition(".")[0] == "tensorflow" or is_of_library(module)


def _calls_python(graph: tf.Graph) -> bool:
    snapshot = Snapshot.of(graph)
    functions = (node for function in snapshot.library.function for node in function.node_def)
    return any(node.op in _PYTHON for node in [*snapshot.nodes.values(), *functions])
