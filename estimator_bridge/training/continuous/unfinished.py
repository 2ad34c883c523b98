"""A note in model_dir that train_and_evaluate is under way, for the process that follows a kill.

The checkpoints alone do not tell whether the evaluation and the exports after the last of them
were done. So the note is there from the start of training to the end of the last export.
"""

from __future__ import annotations

import os

import tensorflow as tf

__all__ = ["begin", "finish", "is_unfinished"]

_NOTE = ".estimator_bridge.unfinished"


def begin(model_dir: str) -> None:
    """Leaves the note: training begins."""
    if not tf.io.gfile.isdir(model_dir):
        return  # nothing was trained there
    with tf.io.gfile.GFile(_path(model_dir), "w") as file:
        file.write("train_and_evaluate has not come to its end here.\n")


def is_unfinished(model_dir: str) -> bool:
    """Whether the note is there."""
    return tf.io.gfile.exists(_path(model_dir))


def finish(model_dir: str) -> None:
    """Removes the note: all evaluations and exports are done."""
    if is_unfinished(model_dir):
        tf.io.gfile.remove(_path(model_dir))


def _path(model_dir: str) -> str:
    return os.path.join(tf.compat.as_str_any(model_dir), _NOTE)
