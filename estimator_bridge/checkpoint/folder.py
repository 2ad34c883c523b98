"""A folder of checkpoints: which is the latest, and whether one can be written."""

from __future__ import annotations

import os
import re
import uuid

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.error_types import DamagedFilesError, MissingFilesError
from estimator_bridge.checkpoint.whole import check_whole, missing_files
from estimator_bridge.errors import CheckpointError

__all__ = ["check_writable", "checkpoints_in", "latest_checkpoint"]

# As tf.train.Saver names them. An input's positions lie beside the models', and are no models.
_NUMBERED = re.compile(r"(?!input(?:_\w+)?\.ckpt-)(.+)-(\d+)\.index")


def latest_checkpoint(model_dir: str) -> str | None:
    """Finds the newest whole checkpoint.

    A process may be killed while it writes, and a folder be copied in part. So where the
    checkpoint that the file `checkpoint` calls the newest is not whole, the newest that is whole
    is taken, with a warning.

    Args:
      model_dir: the folder with the file `checkpoint`, which names its checkpoints.

    Returns:
      The common beginning of its files' names; None if no checkpoint was written yet.

    Raises:
      CheckpointError: there is the file `checkpoint`, and not one whole checkpoint.
    """
    model_dir = os.fspath(model_dir)
    state_file = os.path.join(model_dir, "checkpoint")
    if not tf.io.gfile.exists(state_file):
        return None
    named = checkpoints_in(model_dir)[::-1]
    problems: list[str] = []
    for path in dict.fromkeys([*named, *_numbered(model_dir)]):
        # A folder that was moved holds the files, but not under the absolute path of old.
        for place in dict.fromkeys([path, os.path.join(model_dir, os.path.basename(path))]):
            problem = _problem(place)
            if problem is None:
                if not named:
                    logging.warning("%s is damaged; taking %s", state_file, place)
                elif path != named[0]:
                    logging.warning("%s; taking %s", problems[0], place)
                return place
            problems.append(problem)
    if not named:
        raise CheckpointError(
            f"{state_file} is damaged: it must be a text file that names the checkpoints beside "
            "it, and there is none. Bring their files back, or delete it to train from the start."
        )
    kind = MissingFilesError if missing_files(named[0]) else DamagedFilesError
    raise kind(
        f"{state_file} names checkpoints that are not there, or not whole: {', '.join(named)} "
        f"({problems[0]}). Bring the files back, or delete {state_file} to train from the start."
    )


def checkpoints_in(model_dir: str) -> list[str]:
    """The checkpoints that the file `checkpoint` names, the oldest first; [] if it is damaged.

    Args:
      model_dir: the folder.

    Returns:
      The common beginnings of their files' names. Files may be missing.
    """
    try:
        state = tf.train.get_checkpoint_state(model_dir)
    except (ValueError, UnicodeDecodeError):  # it was emptied, or is no text
        state = None
    if state is None:
        return []
    newest = state.model_checkpoint_path
    return [path for path in state.all_model_checkpoint_paths if path != newest] + [newest]


def _numbered(model_dir: str) -> list[str]:
    """The checkpoints that lie there, that of the highest step first."""
    found = filter(None, map(_NUMBERED.fullmatch, tf.io.gfile.listdir(model_dir)))
    ordered = sorted(((int(match[2]), match[1]) for match in found), reverse=True)
    return [os.path.join(model_dir, f"{start}-{step}") for step, start in ordered]


def _problem(path: str) -> str | None:
    """Why a checkpoint is not whole; None if it is."""
    missing = missing_files(path)
    if missing:
        return f"{path} is not there (missing {', '.join(missing)})"
    try:
        check_whole(path)
    except CheckpointError as error:
        return str(error).rstrip(".")
    return None


class NoFolderError(NotADirectoryError, tf.errors.FailedPreconditionError):
    """A file is where a folder is to be; TensorFlow calls that a failed precondition."""

    def __init__(self, message: str):
        tf.errors.FailedPreconditionError.__init__(self, None, None, message)
        NotADirectoryError.__init__(self, message)  # whose text is that of its arguments


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
        raise NoFolderError(
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
