"""The savers, initializers and summaries that the loops look up in a graph, or add to it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = [
    "clear_summary_writers",
    "collected",
    "get_summary_writer",
    "make_saver",
    "merged_summaries",
    "restore",
]

_v1 = tf.compat.v1


def clear_summary_writers() -> None:
    """Closes the writers of `get_summary_writer`."""
    _v1.summary.FileWriterCache.clear()


def get_summary_writer(logdir: str) -> Any:
    """Returns the writer of a folder's events; it is made on the first call.

    Args:
      logdir: the folder.
    """
    return _v1.summary.FileWriterCache.get(logdir)


def make_saver(graph: tf.Graph, keep_checkpoint_max: int | None = 5) -> Any:
    """Returns a saver of a graph's variables; None if it has none.

    Args:
      graph: the graph.
      keep_checkpoint_max: the number of checkpoints that stay; None or 0 for all.
    """
    keys = (_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.SAVEABLE_OBJECTS)
    saved = [each for key in keys for each in graph.get_collection(key)]
    if not saved:
        return None
    return _v1.train.Saver(saved, sharded=True, max_to_keep=keep_checkpoint_max)


def restore(session: Any, graph: tf.Graph, checkpoint_path: str, saver: Any = None) -> None:
    """Restores a graph's variables.

    Args:
      session: the session.
      graph: its graph.
      checkpoint_path: the checkpoint.
      saver: the saver; by default a new one of all variables.
    """
    logging.info("Loading model from checkpoint: %s.", checkpoint_path)
    saver = saver or make_saver(graph)
    if saver:
        saver.restore(session, checkpoint_path)
    else:
        logging.info("No variables found in graph, not creating Saver() object.")


def collected(key: str, make: Any = None) -> Any:
    """Returns the first element of a collection of the default graph.

    Args:
      key: the collection.
      make: makes the element if there is none; it is added. By default there is none then.
    """
    elements = _v1.get_collection(key)
    if elements:
        return elements[0]
    element = make() if make else None
    if element is not None:
        _v1.add_to_collection(key, element)
    return element


def merged_summaries() -> Any:
    """Returns the operation of all summaries of the default graph; None without summaries."""
    return collected(_v1.GraphKeys.SUMMARY_OP, _v1.summary.merge_all)
