"""Folders of exports, named by the time, that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator

import tensorflow as tf

__all__ = ["Version", "new_version"]


class Version:
    """A folder that is being written.

    Attributes:
      temporary: where it is written; made, and empty at first.
      final: where it is once it is whole; None until then.
    """

    def __init__(self, temporary: str):
        self.temporary = temporary
        self.final: str | None = None


@contextlib.contextmanager
def new_version(export_dir_base: str, now: float | None = None) -> Iterator[Version]:
    """Writes a new version of a served model.

    The folder has a temporary name while it is written, which is no number and so is passed over
    by TensorFlow Serving. It gets its own name at the end, or is removed where an error is raised.

    Args:
      export_dir_base: holds the versions; made where it is not there.
      now: seconds since 1970; by default the clock's.

    Yields:
      The version.
    """
    timestamp = int(time.time() if now is None else now)
    is_new = not tf.io.gfile.exists(export_dir_base)
    # A name that no other process has either, as file systems cannot tell who made a folder.
    version = Version(os.path.join(export_dir_base, f"temp-{timestamp}-{uuid.uuid4().hex[:8]}"))
    tf.io.gfile.makedirs(version.temporary)
    try:
        yield version
        version.final = _publish(version.temporary, export_dir_base, timestamp)
    except BaseException:
        if tf.io.gfile.exists(version.temporary):
            tf.io.gfile.rmtree(version.temporary)
        if is_new and not tf.io.gfile.listdir(export_dir_base):
            tf.io.gfile.rmtree(export_dir_base)
        raise


def _publish(temporary: str, base: str, timestamp: int) -> str:
    """Gives a folder the name of the first second from now on that is free."""
    while True:
        final = os.path.join(base, str(timestamp))
        try:
            tf.io.gfile.rename(temporary, final)
        except tf.errors.AlreadyExistsError:
            timestamp += 1
        except tf.errors.FailedPreconditionError:  # taken between TensorFlow's look and its rename
            if not tf.io.gfile.exists(final):
                raise
            timestamp += 1
        else:
            return final
