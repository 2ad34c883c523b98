"""A folder of checkpoints: which is the latest, and whether one can be written."""

from __future__ import annotations

import os
import re
import uuid

import tensorflow as tf
from absl import logging

from estimator_bridge.errors import CheckpointError

__all__ = ["check_writable", "latest_checkpoint", "missing_files"]


def latest_checkpoint(model_dir: str) -> str | None:
    """Finds the newest checkpoint of which all files are there.

    Args:
      model_dir: the folder with the file `checkpoint`, which names its checkpoints.

    Returns:
      The common beginning of its files' names; None if no checkpoint was written yet.

    Raises:
      CheckpointError: the file `checkpoint` cannot be read, or of none that it names all files
        are there.
    """
    model_dir = os.fspath(model_dir)
    state_file = os.path.join(model_dir, "checkpoint")
    if not tf.io.gfile.exists(state_file):
        return None
    state = tf.train.get_checkpoint_state(model_dir)
    if state is None:
        raise CheckpointError(
            f"{state_file} is damaged: it must be a text file that names the checkpoints beside "
            "it. Delete it to train from the start; or write one line into it, as "
            'model_checkpoint_path: "model.ckpt-100", to go on from that one.'
        )
    newest = state.model_checkpoint_path
    older = [path for path in reversed(state.all_model_checkpoint_paths) if path != newest]
    for path in (newest, *older):
        # A folder that was moved holds the files, but not under the absolute path of old.
        for place in (path, os.path.join(model_dir, os.path.basename(path))):
            if not missing_files(place):
                if path != newest:
                    logging.warning("%s: %s is not there; taking %s", state_file, newest, place)
                return place
    raise CheckpointError(
        f"{state_file} names checkpoints that are not there: {', '.join((newest, *older))} "
        f"(missing {', '.join(missing_files(newest))}). Bring the files back, or delete "
        f"{state_file} to train from the start."
    )


def missing_files(path: str) -> list[str]:
    """The files that a checkpoint lacks.

    Args:
      path: the common beginning of its files' names.

    Returns:
      Their names; [] for a whole checkpoint.
    """
    if not tf.io.gfile.exists(path + ".index"):
        # TensorFlow 0.x wrote a single file of that very name.
        alone = tf.io.gfile.exists(path) and not tf.io.gfile.isdir(path)
        return [] if alone else [path + ".index"]
    shards = data_files(path)
    counts = {int(shard.rpartition("-of-")[2]) for shard in shards}
    if len(counts) != 1:  # none, or what is left of two checkpoints of one name
        return [path + ".data-00000-of-?????"]
    (count,) = counts
    wanted = [f"{path}.data-{i:05d}-of-{count:05d}" for i in range(count)]
    return [shard for shard in wanted if shard not in shards]


def data_files(path: str) -> list[str]:
    """The data files of a checkpoint that are there."""
    folder, start = os.path.split(path)
    pattern = re.compile(re.escape(start) + r"\.data-\d{5}-of-\d{5}")
    names = tf.io.gfile.listdir(folder or ".")
    return [os.path.join(folder, name) for name in names if pattern.fullmatch(name)]


def check_writable(model_dir: str) -> None:
    """Checks that files can be written into a folder, and makes it where it is not there.

    Args:
      model_dir: the folder.

    Raises:
      NotADirectoryError: a file of that name, or of one above it, is in the way.
      PermissionError: it may not be written to.
      OSError: it cannot be made or written to for another reason.
    """
    model_dir = os.fspath(model_dir)
    in_the_way = _file_on_the_way(model_dir)
    if in_the_way:
        raise NotADirectoryError(
            f"model_dir {model_dir!r} must be a folder, but {in_the_way!r} is a file. Use another "
            "model_dir, or move the file."
        )
    probe = os.path.join(model_dir, f".estimator_bridge-{uuid.uuid4().hex}")
    try:
        tf.io.gfile.makedirs(model_dir)
        with tf.io.gfile.GFile(probe, "w") as file:
            file.write("May this folder be written to?")
        tf.io.gfile.remove(probe)
    except tf.errors.OpError as error:
        kind = PermissionError if isinstance(error, tf.errors.PermissionDeniedError) else OSError
        raise kind(
            f"model_dir {model_dir!r} cannot be written to: {error.message}. Checkpoints and "
            "summaries go there; use another model_dir, or change its permissions."
        ) from error


def _file_on_the_way(path: str) -> str | None:
    while path:
        if tf.io.gfile.exists(path):
            return None if tf.io.gfile.isdir(path) else path
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
    return None
