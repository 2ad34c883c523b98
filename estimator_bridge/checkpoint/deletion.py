"""Completes deletions of old checkpoints that a killed process left unfinished.

A saver first removes an old checkpoint from the file `checkpoint`, then deletes its files. A
process killed in between leaves a complete but unlisted checkpoint, just like those that
keep_checkpoint_every_n_hours keeps permanently. So its files are noted beforehand.
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import is_plain_name
from estimator_bridge.checkpoint.folder import checkpoints_in
from estimator_bridge.checkpoint.integrity import data_files
from estimator_bridge.own_files import (
    Identity,
    identity_of,
    read_note,
    remove_file,
    remove_note,
    write_note,
)
from estimator_bridge.tensorflow_private.saving import next_to_delete

__all__ = ["finish_deletion", "note_deletion", "remove_deletion_note"]

_NOTE = ".estimator_bridge.deleting"


def note_deletion(folder: str, saver: tf.compat.v1.train.Saver, new_prefix: str) -> None:
    """Notes the checkpoint, if any, that a saver will delete after its next save.

    Args:
      folder: the folder of the checkpoints.
      saver: the saver that is about to save.
      new_prefix: the new checkpoint's prefix.
    """
    old = next_to_delete(saver, new_prefix)
    if old is None or os.path.dirname(old) != os.path.dirname(new_prefix):
        return
    files = {os.path.basename(file): identity_of(file) for file in _files_of(old)}
    identities = {name: identity for name, identity in files.items() if identity}
    write_note(_path(folder), {"checkpoint": os.path.basename(old), "files": identities})


def remove_deletion_note(folder: str) -> None:
    """Removes the note after the deletion."""
    remove_note(_path(folder))


def finish_deletion(folder: str) -> None:
    """Deletes the checkpoint that a killed process was about to delete.

    Args:
      folder: the model_dir of a training that is about to start.
    """
    note = read_note(_path(folder), _parse)
    if note is None:
        return
    checkpoint, files = note
    listed_names = {os.path.basename(path) for path in checkpoints_in(folder)}
    if listed_names and checkpoint not in listed_names:  # one that is still listed stays
        for name, identity in files.items():
            remove_file(os.path.join(folder, name), identity)
    remove_note(_path(folder))


def _files_of(prefix: str) -> list[str]:
    """Lists a checkpoint's files in the order in which a saver deletes them."""
    return [prefix + ".meta", prefix + ".index", *data_files(prefix), prefix]


def _parse(note: dict[str, Any]) -> tuple[str, dict[str, Identity]]:
    checkpoint = note["checkpoint"]
    files = {name: (int(size), int(time)) for name, (size, time) in note["files"].items()}
    for name in (checkpoint, *files):
        if not is_plain_name(name) or not f"{name}.".startswith(f"{checkpoint}."):
            raise ValueError(f"{name!r} is no file of a checkpoint in this folder")
    return checkpoint, files


def _path(folder: str) -> str:
    return os.path.join(folder, _NOTE)
