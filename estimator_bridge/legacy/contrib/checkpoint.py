"""tf.contrib.checkpoint: object-based checkpoints."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["CheckpointManager"]

CheckpointManager = tf.train.CheckpointManager

_TRACKED = (
    "is not there. Assign lists, dicts and variables to attributes of a tf.Module, and save that "
    "by tf.train.Checkpoint."
)
_SHOWN = "is not there. Use tf.train.list_variables(checkpoint)."

__getattr__ = missing_getattr(
    __name__,
    {
        **dict.fromkeys(
            (
                "Checkpointable",
                "CheckpointableBase",
                "List",
                "Mapping",
                "NoDependency",
                "NumpyState",
                "PythonStateWrapper",
                "UniqueNameTracker",
                "capture_dependencies",
                "split_dependency",
            ),
            _TRACKED,
        ),
        **dict.fromkeys(
            (
                "CheckpointableObjectGraph",
                "dot_graph_from_checkpoint",
                "list_objects",
                "object_metadata",
            ),
            _SHOWN,
        ),
    },
    "tf.contrib.checkpoint",
)
