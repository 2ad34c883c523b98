"""Reads checkpoints as TensorFlow's own functions do, but never waits for a pipe.

These return and raise what `tf.train` does, for programs that depend on it. See `folder` and
`integrity` for checks of the contents.
"""

from __future__ import annotations

import os

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.checkpoint.integrity import check_no_pipes

__all__ = ["check_readable", "newest_listed", "reader_of"]


def newest_listed(folder: str | os.PathLike[str]) -> str | None:
    """Returns what `tf.train.latest_checkpoint` returns.

    Raises:
      OSError: the file `checkpoint` there is a pipe or a device.
    """
    check_is_no_pipe(os.path.join(os.fspath(folder), "checkpoint"))
    return tf.train.latest_checkpoint(folder)


def reader_of(path: str | os.PathLike[str]) -> tf.train.CheckpointReader:
    """Returns what `tf.train.load_checkpoint` returns.

    Args:
      path: a checkpoint's prefix, or a folder with the file `checkpoint`.

    Raises:
      OSError: a file of the checkpoint is a pipe or a device.
      ValueError: the folder has no checkpoint.
    """
    check_readable(path)
    return tf.train.load_checkpoint(path)


def check_readable(path: str | os.PathLike[str]) -> None:
    """Checks what `reader_of` opens.

    Raises:
      OSError: a file of the checkpoint is a pipe or a device.
    """
    name = os.fsdecode(path)
    prefix = newest_listed(name) if tf.io.gfile.isdir(name) else name
    if prefix is not None:
        check_no_pipes(prefix)
