"""Keeps readers of a folder, such as an evaluation, from creating it again once it is lost.

A training holds a lock, see `lock`. Evaluations, predictions and exports hold none, and may run in
a process of their own. TensorFlow's writers create every folder that is missing, so without a check
an evaluation would leave a removed model_dir behind again, with an event file as its only content.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

import tensorflow as tf

from estimator_bridge.checkpoint.folder_place import FolderPlace, folder_place, is_shared_disk
from estimator_bridge.errors import ModelDirLostError

__all__ = ["WatchedFolder", "check_watched_folders", "watched_folder"]

# The folders that a call in this thread uses now.
_of_thread = threading.local()


class WatchedFolder:
    """A folder that is in use without a lock.

    Args:
      folder: the folder; watched from the first check at which it exists.
      description: what the folder is and the activity that uses it, as "model_dir", "evaluation".
      stack: closes the folder at the end.
    """

    def __init__(self, folder: str, description: tuple[str, str], stack: contextlib.ExitStack):
        self._folder, self._description, self._stack = folder, description, stack
        self._place: FolderPlace | None = None
        self.loss()

    def has(self, path: str) -> bool:
        """Returns whether the path is the folder's, or of something in it."""
        return f"{os.path.abspath(path)}/".startswith(f"{os.path.abspath(self._folder)}/")

    def loss(self) -> str | None:
        """Returns what became of the folder, after its name; None while it is in place."""
        if self._place is None:
            if os.path.isdir(self._folder):
                self._place = self._stack.enter_context(folder_place(self._folder))
            return None
        loss = self._place.loss()
        if loss and os.path.exists(self._place.path) and is_shared_disk(self._place.path):
            return None  # such disks may change inodes
        return loss

    def check(self) -> None:
        """Raises the loss of the folder.

        Raises:
          ModelDirLostError: it was removed, renamed or replaced.
        """
        loss = self.loss()
        if loss:
            folder, activity = self._description
            raise ModelDirLostError(
                f"{folder} {self._folder!r} {loss}. This {activity} ends and writes nothing there. "
                "Let it end before the folder is moved or removed, or start it again."
            )


@contextlib.contextmanager
def watched_folder(folder: str, activity: str, role: str = "model_dir") -> Iterator[WatchedFolder]:
    """Watches a folder within the context, for the checks of `check_watched_folders` too.

    Args:
      folder: a folder, which may not exist yet. One on an object store cannot be lost.
      activity: what uses it, as "evaluation".
      role: what the folder is.

    Yields:
      The watched folder.

    Raises:
      ModelDirLostError: a file could not be read or written, and the folder has been lost.
    """
    folders: list[WatchedFolder] = _of_thread.__dict__.setdefault("folders", [])
    with contextlib.ExitStack() as stack:
        folder_in_use = WatchedFolder(folder, (role, activity), stack)
        folders.append(folder_in_use)
        try:
            yield folder_in_use
        except (OSError, tf.errors.OpError):
            folder_in_use.check()  # a file in it was missing because all of it is
            raise
        finally:
            folders.remove(folder_in_use)


def check_watched_folders(path: str) -> None:
    """Checks, before a path is written, that it does not recreate a lost folder of this thread.

    Raises:
      ModelDirLostError: a folder that holds it was removed, renamed or replaced.
    """
    for folder in _of_thread.__dict__.get("folders", ()):
        if folder.has(path):
            folder.check()
