"""Gives a complete checkpoint its name, so that a kill in between can be finished or undone.

A checkpoint is several files, which are renamed one after the other. A record in the staging folder
first says which files these are. So whoever finds a part of them after a kill knows that it is the
library's, and not a file that somebody copied there.
"""

from __future__ import annotations

import json
import os
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe, is_plain_name, names_in
from estimator_bridge.checkpoint.integrity import data_files
from estimator_bridge.own_files import (
    Identity,
    abandoned_in,
    identity_of,
    is_own_folder,
    lies_at,
    move_over,
    open_to_write,
    parse_note,
    remove_file,
    set_aside,
)

__all__ = ["finish_publishing", "publish"]

_RECORD = ".publishing"


def publish(staging_prefix: str, prefix: str) -> None:
    """Renames a complete checkpoint's files to its prefix.

    Data files without an index, and those of another number of shards, may belong to a checkpoint
    that is still being copied. They are set aside, with a line.

    Args:
      staging_prefix: the prefix of its files in the staging folder.
      prefix: its prefix in the folder of checkpoints.
    """
    index = prefix + ".index"
    new = {prefix + file[len(staging_prefix) :]: file for file in data_files(staging_prefix)}
    # The index is last: the old one also fits new data of the same values.
    new[index] = staging_prefix + ".index"
    is_new = not tf.io.gfile.exists(index)
    if is_new and lies_at(index):
        set_aside(index, "is a link to nowhere, and a checkpoint of the same name was saved")
    for file in data_files(prefix):
        if is_new:
            set_aside(file, "has no index, and a checkpoint of the same name was saved")
        elif file not in new:
            set_aside(file, "belongs to a checkpoint of the same name with other shards")
    files = {os.path.basename(target): identity_of(file) for target, file in new.items()}
    record = staging_prefix + _RECORD
    with open_to_write(record) as output:
        output.write(json.dumps({"is_new": is_new, "files": files}).encode())
    try:
        for target, file in new.items():
            move_over(file, target)
    except BaseException:
        _finish(os.path.dirname(prefix), staging_prefix, record)
        raise
    remove_file(record)


def finish_publishing(folder: str) -> None:
    """Finishes or undoes what a killed process was about to publish.

    A checkpoint that replaces one of its name is finished. A new one is undone: training continues
    from the one before it.

    Args:
      folder: the model_dir of a training that is about to start, and that holds its lock.
    """
    for staging in filter(is_own_folder, abandoned_in(folder, is_only_training=True)):
        for name in names_in(staging):
            if name.endswith(_RECORD):
                path = os.path.join(staging, name)
                _finish(folder, path[: -len(_RECORD)], path)


def _finish(folder: str, staging_prefix: str, record: str) -> None:
    token, _, prefix = os.path.basename(staging_prefix).partition(".")
    try:
        check_is_no_pipe(record)
        with tf.io.gfile.GFile(record, "rb") as file:
            is_new, files = parse_note(file.read(), _parse)
    except (ValueError, OSError):  # cut short, and so no file was renamed; or not the library's
        return
    if not all(is_plain_name(name) and name.startswith(f"{prefix}.") for name in files):
        return
    staging = os.path.dirname(staging_prefix)
    target_paths = {name: os.path.join(folder, name) for name in files}
    staged_files = {
        name: path
        for name in files
        if identity_of(path := os.path.join(staging, f"{token}.{name}")) == files[name]
    }
    new_names = {name for name, path in target_paths.items() if identity_of(path) == files[name]}
    if not staged_files:
        return
    if is_new:
        for name in new_names - set(staged_files):
            remove_file(target_paths[name], files[name])
    elif new_names | set(staged_files) == set(files):
        for name, path in staged_files.items():
            move_over(path, target_paths[name])


def _parse(note: dict[str, Any]) -> tuple[bool, dict[str, Identity]]:
    files = {name: (int(size), int(time)) for name, (size, time) in note["files"].items()}
    return bool(note["is_new"]), files
