"""Writes small text files beside checkpoints, on disks and object stores."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["replace_text"]


def replace_text(path: str, text: str) -> None:
    """Writes a text file as a whole: a reader sees the old text or the new one.

    Args:
      path: the file, in a folder that exists. What a kill leaves behind has the ending ``.new``.
      text: its new content.

    Raises:
      tf.errors.OpError: it cannot be written.
    """
    with tf.io.gfile.GFile(path + ".new", "w") as file:
        file.write(text)
    tf.io.gfile.rename(path + ".new", path, overwrite=True)
