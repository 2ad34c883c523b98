"""Writes small text files beside checkpoints, on disks and object stores."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.checkpoint.lock import check_model_dir

__all__ = ["replace_text"]


def replace_text(path: str, text: str) -> None:
    """Writes a text file as a whole: a reader sees the old text or the new one.

    Args:
      path: the file, in a folder that exists. What a kill leaves behind has the ending ``.new``.
      text: its new content.

    Raises:
      ModelDirLostError: it is in the model_dir of a training, which was removed or replaced.
      tf.errors.OpError: it cannot be written.
    """
    check_model_dir(path)
    with tf.io.gfile.GFile(path + ".new", "w") as file:
        file.write(text)
    tf.io.gfile.rename(path + ".new", path, overwrite=True)
