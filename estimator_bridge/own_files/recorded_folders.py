"""Folders that record their own files, such as exports, so that old ones can be deleted later.

A number as its name does not show who wrote a folder. The record inside lists each file with its
size and time of change, and names the folder's inode, so that a copy of the record, or of the whole
folder, shows nothing. A folder in which anything was added or changed since is somebody else's too,
and stays as a whole.
"""

from __future__ import annotations

import json
import os

from estimator_bridge.base.any_files import files_below, is_folder, is_remote, open_bytes
from estimator_bridge.own_files.deleting import (
    Identity,
    identity_of,
    is_link,
    remove_empty_folder,
    remove_file,
)
from estimator_bridge.own_files.staging import open_to_write

__all__ = ["is_recorded_folder", "record_folder", "remove_recorded_folder"]

_RECORD = ".estimator_bridge.files"
_MOST_BYTES = 16 << 20


def record_folder(folder: str) -> None:
    """Writes the record of a complete folder, which may be renamed afterwards.

    Raises:
      OSError: it cannot be written. On an object store, a tf.errors.OpError.
    """
    files = {os.path.relpath(path, folder): identity_of(path) for path in files_below(folder)}
    content = {"inode": _inode_of(folder), "files": files}
    with open_to_write(os.path.join(folder, _RECORD)) as file:
        file.write(json.dumps(content, indent=1).encode())


def is_recorded_folder(folder: str) -> bool:
    """Returns whether the library wrote a folder, and nobody has added or changed a file since."""
    record = _read_record(folder)
    return record is not None and all(
        identity_of(path) == record.get(os.path.relpath(path, folder))
        for path in files_below(folder)
        if os.path.relpath(path, folder) != _RECORD
    )


def remove_recorded_folder(folder: str) -> bool:
    """Removes a folder of `record_folder`; a file that the record does not show stays.

    Returns:
      Whether all of it was removed.

    Raises:
      OSError: a file cannot be removed. On an object store, a tf.errors.OpError.
    """
    record = _read_record(folder)
    if record is None or not is_recorded_folder(folder):
        return False
    if is_remote(folder):  # where folders are only parts of names
        for name, identity in record.items():
            remove_file(os.path.join(folder, name), identity)
        remove_file(os.path.join(folder, _RECORD))
        return remove_empty_folder(folder)
    for inner, folders, files in os.walk(folder, topdown=False):
        for name in files:
            path = os.path.join(inner, name)
            recorded_identity = record.get(os.path.relpath(path, folder))
            if recorded_identity is not None:
                remove_file(path, recorded_identity)
        for name in folders:
            remove_empty_folder(os.path.join(inner, name))
    remove_file(os.path.join(folder, _RECORD))  # last: a kill before it can be continued
    return remove_empty_folder(folder)


def _read_record(folder: str) -> dict[str, Identity] | None:
    """Returns the identities by relative path; None if the folder has no record that holds."""
    path = os.path.join(folder, _RECORD)
    if is_link(folder) or not is_folder(folder) or identity_of(path) is None:
        return None
    try:
        with open_bytes(path) as file:
            content = json.loads(file.read(_MOST_BYTES))
        if content["inode"] != _inode_of(folder):
            return None
        return {name: (int(size), int(time)) for name, (size, time) in content["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError):
        return None


def _inode_of(folder: str) -> int | None:
    return None if is_remote(folder) else os.stat(folder).st_ino
