"""Checkpoints, exports and profiles."""

from __future__ import annotations

import tensorflow as tf

# The entries of a checkpoint's index: type, shape and place of each value; no public name.
from tensorflow.core.protobuf.tensor_bundle_pb2 import BundleEntryProto, BundleHeaderProto

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
]


def next_to_delete(saver: tf.compat.v1.train.Saver, saved: str) -> str | None:
    """The checkpoint that a saver deletes after the next save; None if it deletes none.

    No public API shows which checkpoints keep_checkpoint_every_n_hours keeps.

    Args:
      saver: the saver, before it saves.
      saved: the path of the new checkpoint.
    """
    most = saver.saver_def.max_to_keep
    others = [(path, time) for path, time in saver._last_checkpoints if path != saved]
    queue = [*saver._checkpoints_to_be_deleted, *(others[:1] if most <= len(others) else ())]
    if not most or not queue:
        return None
    path, time = queue[0]
    return None if time > saver._next_checkpoint_time else path


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
