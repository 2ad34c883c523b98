"""Checkpoints, exports and profiles."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

# What a saver stores under other names or in another form than a variable's; no public name.
from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

__all__ = [
    "SaveSpec",
    "SaveableObject",
    "last_meta_graph",
    "next_to_delete",
    "read_profile",
    "variables_are_written",
]


_SAVER_STATE = ("saver_def", "_last_checkpoints", "_checkpoints_to_be_deleted")
_NEXT_TIME = "_next_checkpoint_time"  # set with saver_def, by the saver's build()


def next_to_delete(saver: Any, saved: str) -> str | None:
    """The checkpoint that a saver deletes after the next save; None if it deletes none.

    No public API shows which checkpoints keep_checkpoint_every_n_hours keeps. A saver that is not a
    tf.train.Saver has no known next deletion: it may delegate to one, and keep what that deletes.

    Args:
      saver: the saver, before it saves: a program's own may have the public methods only.
      saved: the path of the new checkpoint.
    """
    if not issubclass(type(saver), tf.compat.v1.train.Saver):  # isinstance() believes a mock
        return None
    state = vars(saver)
    if not state.keys() >= {*_SAVER_STATE, _NEXT_TIME}:
        return None  # a subclass that delegates
    definition, last, waiting = (state[name] for name in _SAVER_STATE)
    if definition is None:  # not built: it has saved nothing
        return None
    most = definition.max_to_keep
    others = [(path, time) for path, time in last if path != saved]
    queue = [*waiting, *(others[:1] if most <= len(others) else ())]
    if not most or not queue:
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
