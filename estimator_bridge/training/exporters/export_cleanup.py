"""Exports in a folder, of which only the newest are to stay."""

from __future__ import annotations

import os

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.export.export_folders import number_of
from estimator_bridge.own_files import is_recorded_folder, log_once, remove_recorded_folder

__all__ = ["check_exports_to_keep", "delete_old_exports", "exports_in"]


def check_exports_to_keep(count: int | None) -> int | None:
    """Checks how many exports are to stay.

    Returns:
      The number.

    Raises:
      ValueError: it is 0 or less.
    """
    if count is not None and count <= 0:
        raise ValueError(
            f"`exports_to_keep`, if provided, must be a positive number. Got {count}. None keeps "
            "all exports."
        )
    return count


def exports_in(folder: str | os.PathLike[str]) -> list[str]:
    """The exports in a folder, the oldest first; [] where there is no folder.

    Each has a larger number than those before it, so the order does not depend on the clock. Other
    folders, as users' own, are left alone.
    """
    folder = os.fspath(folder)
    if not tf.io.gfile.isdir(folder):
        return []
    # Some file systems list folders with a slash at the end.
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(folder)]
    return [os.path.join(folder, name) for name in sorted(names) if number_of(name)]


def delete_old_exports(folder: str | os.PathLike[str], keep: int | None) -> None:
    """Deletes all exports in a folder but the newest.

    Exports that this library did not write, or that have been changed since, stay and do not count.

    Args:
      folder: holds the exports.
      keep: how many stay; None: all.
    """
    if not keep:
        return
    exports = exports_in(folder)
    own = list(filter(is_recorded_folder, exports))
    for path in own[:-keep]:
        try:
            remove_recorded_folder(path)
        except (FileNotFoundError, tf.errors.NotFoundError) as error:  # another process was faster
            logging.warning("Can not delete %s recursively: %s", path, error)
    log_once(
        os.fspath(folder),
        "%s has exports that this version of the library did not write, or that have been changed "
        "since: %s. They stay, and exports_to_keep does not count them.",
        [os.path.basename(path) for path in exports if path not in own],
    )
