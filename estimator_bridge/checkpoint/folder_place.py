"""Notices that a folder was removed, renamed or replaced while it is in use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

__all__ = ["FolderPlace", "folder_place", "is_shared_disk"]

_SHARED_DISKS = ("9p", "afs", "beegfs", "ceph", "cifs", "fuse", "gluster", "gpfs", "lustre", "nfs")
# Other errors, such as a timeout of the disk, do not show that the folder is gone.
_GONE = (FileNotFoundError, NotADirectoryError)


class FolderPlace:
    """A local folder, held open: its inode is not used again while it is watched.

    Args:
      folder: its name, perhaps relative to the working directory, or of a link.
      descriptor: an open descriptor of it.

    Attributes:
      path: its absolute path at the start.
      descriptor: see above.
    """

    def __init__(self, folder: str, descriptor: int):
        self.path = os.path.abspath(folder)
        self.descriptor = descriptor
        self._name = folder
        self._real_path = os.path.realpath(folder)

    @property
    def identity(self) -> tuple[int, int]:
        """The device and the inode, which are the same under all names of the folder."""
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def loss(self) -> str | None:
        """Returns what became of the folder, after its name; None while it is in place."""
        try:
            if os.path.samestat(os.stat(self.path), os.fstat(self.descriptor)):
                return None
            state = "another folder is in its place"
        except _GONE:
            state = "nothing is in its place"
        except OSError:
            return None
        return f"{self._past()}, and {state} now"

    def loss_of_name(self) -> str | None:
        """Returns why the program's name for the folder leads elsewhere; None if it does not."""
        if os.path.isabs(self._name):
            return None  # `loss` compares it
        elsewhere = "nowhere"
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self._name), os.fstat(self.descriptor)):
                return None
            elsewhere = repr(os.path.abspath(self._name))
        return (
            f"is {self.path!r}, but the program changed its working directory, and the relative "
            f"path leads to {elsewhere} now"
        )

    def _past(self) -> str:
        with contextlib.suppress(OSError):  # where there is no /proc, that is not known
            path = os.readlink(f"/proc/self/fd/{self.descriptor}")
            if path.endswith(" (deleted)"):
                return "was removed"
            if path == self._real_path:  # a link that leads elsewhere now, or a mount
                return f"was {path!r}, to which this name no longer leads"
            return f"was renamed to {path!r}"
        return "was removed or renamed"


@contextlib.contextmanager
def folder_place(folder: str) -> Iterator[FolderPlace | None]:
    """Holds a local folder open within the context.

    Args:
      folder: an existing folder.

    Yields:
      The place; None for a folder on an object store, which has no identity.
    """
    if "://" in folder:
        yield None
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield FolderPlace(folder, descriptor)
    finally:
        os.close(descriptor)


def is_shared_disk(path: str) -> bool:
    """Returns whether other machines may see a folder and their locks may be invisible here."""
    folder = os.path.realpath(path)
    best, kind = "", ""
    with contextlib.suppress(OSError), open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, place, file_system, *_ = line.split(" ")
            is_above = place in ("/", folder) or folder.startswith(place + "/")
            if is_above and len(place) >= len(best):
                best, kind = place, file_system
    return kind.startswith(_SHARED_DISKS)
