"""Files that a run writes: each whole or not at all, with an error that names it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import tensorflow as tf

from estimator_bridge.base.any_files import is_remote
from estimator_bridge.checkpoint import explained_full_disk_of
from estimator_bridge.own_files import own_output, record_output, replace_text
from estimator_bridge.own_files.local_files import whole_file

__all__ = ["saved_file", "saved_output", "write_text"]


@contextlib.contextmanager
def saved_file(path: str) -> Iterator[str]:
    """Creates a temporary file, which replaces ``path`` at the end if nothing fails.

    Args:
        path: a path on this machine, in a folder that exists.

    Yields:
        The path of an empty file in the same folder, with the same ending, to write to.

    Raises:
        DiskFullError: the disk is full; nothing is left of the file.
        OSError: the file cannot be written for another reason.
    """
    with (
        explained_full_disk_of(f"The file {path}", only_writes=True),
        whole_file(path) as temporary,
    ):
        yield temporary


@contextlib.contextmanager
def saved_output(path: str) -> Iterator[str]:
    """Does what `saved_file` does, but leaves a user's file of that name alone.

    Args:
        path: the output's usual path. If a file has it that no training wrote, or that was edited
            since, the output goes to a name beside it.

    Yields:
        See `saved_file`.
    """
    target = own_output(path)
    with saved_file(target) as temporary:
        yield temporary
        with open(temporary, "rb") as file:
            record_output(target, file.read())


def write_text(path: str, text: str) -> None:
    """Writes a file as a whole, and its folder if needed.

    Args:
        path: on this machine, or of an object store.
        text: its content.

    Raises:
        DiskFullError: the disk is full; nothing is left of the file.
        OSError: the file cannot be written for another reason.
    """
    folder = os.path.dirname(path)
    if not is_remote(path):
        os.makedirs(folder, exist_ok=True)
        with saved_file(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        return
    try:
        tf.io.gfile.makedirs(folder)
        replace_text(path, text)
    except tf.errors.OpError as error:
        raise OSError(f"{path}: cannot be written: {error.message}") from error
