"""Checkpoints, exports and profiles."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

# The entries of a checkpoint's index: type, shape and place of each value; no public name.
from tensorflow.core.protobuf.tensor_bundle_pb2 import BundleEntryProto, BundleHeaderProto

# Savers write `checkpoint`, .meta and graph.pbtxt by it, under temporary names of its own.
from tensorflow.python.lib.io import file_io

# What a saver stores under other names or in another form than a variable's; no public name.
from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

__all__ = [
    "BundleEntryProto",
    "BundleHeaderProto",
    "SaveSpec",
    "SaveableObject",
    "last_meta_graph",
    "next_to_delete",
    "read_profile",
    "variables_are_written",
    "whole_files_written_by",
]

_write_whole = file_io.atomic_write_string_to_file
_writers: list[Callable[[str, bytes], bool]] = []
_lock = threading.Lock()


_SAVER_STATE = ("saver_def", "_last_checkpoints", "_checkpoints_to_be_deleted")
_NEXT_TIME = "_next_checkpoint_time"  # set with saver_def, by the saver's build()


def next_to_delete(saver: Any, new_prefix: str) -> str | None:
    """The checkpoint that a saver deletes after the next save; None if it deletes none.

    No public API shows which checkpoints keep_checkpoint_every_n_hours keeps. A saver that is not a
    tf.train.Saver has no known next deletion: it may delegate to one, and keep what that deletes.

    Args:
      saver: the saver, before it saves: a program's own may have the public methods only.
      new_prefix: the path of the new checkpoint.
    """
    if not issubclass(type(saver), tf.compat.v1.train.Saver):  # isinstance() believes a mock
        return None
    state = vars(saver)
    if not state.keys() >= {*_SAVER_STATE, _NEXT_TIME}:
        return None  # a subclass that delegates
    definition, last, waiting = (state[name] for name in _SAVER_STATE)
    if definition is None:  # not built: it has saved nothing
        return None
    max_to_keep = definition.max_to_keep
    others = [(path, time) for path, time in last if path != new_prefix]
    queue = [*waiting, *(others[:1] if max_to_keep <= len(others) else ())]
    if not max_to_keep or not queue:
        return None
    path, time = queue[0]
    return None if time > state[_NEXT_TIME] else path


def last_meta_graph(builder: tf.compat.v1.saved_model.Builder):
    """The MetaGraphDef added last; the builder's public API cannot change it.

    A change to the file after it is written would invalidate its fingerprint.
    """
    return builder._saved_model.meta_graphs[-1]


def variables_are_written(builder: tf.compat.v1.saved_model.Builder) -> None:
    """Lets a builder add graphs although it has not written the variables itself."""
    builder._has_saved_variables = True


def read_profile(path: str):
    """The XSpace that tf.profiler.experimental wrote; its message has no public name."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2  # few programs need a trace

    with tf.io.gfile.GFile(path, "rb") as file:
        return xplane_pb2.XSpace.FromString(file.read())


@contextlib.contextmanager
def whole_files_written_by(write: Callable[[str, bytes], bool]) -> Iterator[None]:
    """Lets a function write the files that TensorFlow writes as a whole.

    TensorFlow's temporary names have a token that nobody else learns, so what a killed process
    leaves under them could not be told from files of others.

    Args:
      write: called with a file's path and content; returns whether it has written the file.
    """
    with _lock:
        _writers.append(write)
        file_io.atomic_write_string_to_file = _write
    try:
        yield
    finally:
        with _lock:
            _writers.remove(write)
            if not _writers:
                file_io.atomic_write_string_to_file = _write_whole


def _write(filename, contents, overwrite=True):
    path = tf.compat.as_str_any(tf.compat.path_to_str(filename))
    if overwrite and file_io.has_atomic_move(filename):
        content = tf.compat.as_bytes(contents)
        if any(write(path, content) for write in [*_writers]):
            return
    _write_whole(filename, contents, overwrite)
