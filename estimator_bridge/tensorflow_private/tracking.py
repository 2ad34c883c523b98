"""Object-based checkpoints: what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

# A checkpoint's graph of objects, in which tf.contrib.checkpoint gives it to programs.
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

# tf.contrib.checkpoint has functions that list a checkpoint's objects; no public module has them.
from tensorflow.python.checkpoint import checkpoint as object_checkpoints

# The lists, dicts and untracked attributes of tf.contrib.checkpoint.
from tensorflow.python.trackable import data_structures as trackable_structures
from tensorflow.python.trackable.autotrackable import AutoTrackable

# The base of objects that say themselves what a checkpoint has of them.
from tensorflow.python.trackable.base import VARIABLE_VALUE_KEY, Trackable

__all__ = [
    "VARIABLE_VALUE_KEY",
    "AutoTrackable",
    "Trackable",
    "TrackableObjectGraph",
    "add_tracked_variable",
    "object_checkpoints",
    "trackable_structures",
]


def add_tracked_variable(
    owner: Trackable, name: str, getter: Callable[..., tf.Variable], **kwargs: Any
) -> tf.Variable:
    """Makes a variable that checkpoints have as a part of its owner.

    If a checkpoint was restored into the owner before, the variable starts with the value there.
    The getter's own error is raised for a name that is taken.
    """
    return owner._add_variable_with_custom_getter(
        name=name, getter=getter, overwrite=True, **kwargs
    )
