"""Completes deletions of old checkpoints that a killed process left unfinished.

A saver first removes an old checkpoint from the file `checkpoint`, then deletes its files. A
process killed in between leaves a complete but unlisted checkpoint, just like those that
keep_checkpoint_every_n_hours keeps permanently. So its name is noted beforehand.
"""

from __future__ import annotations

import os

import tensorflow as tf

from estimator_bridge.checkpoint.folder import checkpoints_in
from estimator_bridge.checkpoint.integrity import data_files
from estimator_bridge.tensorflow_private import next_to_delete

__all__ = ["finish_deletion", "note_deletion", "remove_deletion_note"]

_NOTE = ".estimator_bridge.deleting"


def note_deletion(folder: str, saver: tf.compat.v1.train.Saver, saved: str) -> None:
    """Notes the checkpoint, if any, that a saver will delete after its next save.

    Args:
      folder: the folder of the checkpoints.
      saver: the saver that is about to save.
      saved: the new checkpoint's prefix.
    """
    old = next_to_delete(saver, saved)
    if old is not None and os.path.dirname(old) == os.path.dirname(saved):
        with tf.io.gfile.GFile(_path(folder), "w") as file:
            file.write(os.path.basename(old) + "\n")


def remove_deletion_note(folder: str) -> None:
    """Removes the note after the deletion."""
    if tf.io.gfile.exists(_path(folder)):
        tf.io.gfile.remove(_path(folder))


def finish_deletion(folder: str) -> None:
    """Deletes the checkpoint that a killed process was about to delete.

    Args:
      folder: the model_dir of a training that is about to start.
    """
    if not tf.io.gfile.exists(_path(folder)):
        return
    with tf.io.gfile.GFile(_path(folder)) as file:
        name, end, _ = file.read().partition("\n")
    named = {os.path.basename(path) for path in checkpoints_in(folder)}
    # A note without a newline was itself cut short. A checkpoint that is still listed stays.
    if end and named and name not in named:
        path = os.path.join(folder, name)
        for file in [path + ".meta", path + ".index", *data_files(path), path]:
            if tf.io.gfile.exists(file):
                tf.io.gfile.remove(file)
    tf.io.gfile.remove(_path(folder))


def _path(folder: str) -> str:
    return os.path.join(folder, _NOTE)
