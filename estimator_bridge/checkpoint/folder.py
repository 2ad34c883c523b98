"""A folder of checkpoints: which is the latest, and whether one can be written."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Collection, Sequence

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.error_types import (
    DamagedCheckpointError,
    ForbiddenCheckpointError,
    FullDiskError,
    MissingCheckpointError,
)
from estimator_bridge.checkpoint.whole import PATTERN_CHARACTERS, check_whole, missing_files
from estimator_bridge.errors import CheckpointError

__all__ = ["check_writable", "checkpoints_in", "latest_checkpoint", "was_cut_short"]

# As tf.train.Saver names them: with an index, or a single file in the format before V2. An input's
# positions lie beside the models', and are no models.
_NUMBERED = re.compile(r"(?!input(?:_\w+)?\.ckpt-)(?:(.+)-(\d+)\.index|(.+\.ckpt)-(\d+))")


def latest_checkpoint(model_dir: str, passing_over: Collection[str] = ()) -> str | None:
    """Finds the newest whole checkpoint.

    A process may be killed while it writes, and a folder be copied in part. So where the
    checkpoint that the file `checkpoint` calls the newest is not whole, or that file is not there,
    the newest that is whole is taken, with a warning.

    Args:
      model_dir: the folder with the file `checkpoint`, which names its checkpoints.
      passing_over: checkpoints that were found not to be restorable.

    Returns:
      The common beginning of its files' names; None if no checkpoint was written yet.

    Raises:
      CheckpointError: there are traces of checkpoints, and not one whole checkpoint.
      UnreadableCheckpointError: one cannot be read now, for want of permission for example.
    """
    model_dir = os.fspath(model_dir)
    if not tf.io.gfile.isdir(model_dir):
        return None
    state_file = os.path.join(model_dir, "checkpoint")
    has_state = tf.io.gfile.exists(state_file)
    named = checkpoints_in(model_dir)[::-1] if has_state else []
    unnamed = [path for path in _numbered(model_dir) if not was_cut_short(path)]
    candidates = list(dict.fromkeys([*named, *unnamed]))
    if not has_state and not candidates:
        return None
    problems: list[str] = []
    for path in candidates:
        # A folder that was moved holds the files, but not under the absolute path of old.
        for place in dict.fromkeys([path, os.path.join(model_dir, os.path.basename(path))]):
            if place in passing_over:
                continue
            problem = _problem(place)
            if problem is None:
                if not passing_over and path not in named[:1]:
                    why = problems[0] if named else _what_of_state(state_file, has_state)
                    logging.warning("%s; taking %s", why, place)
                return place
            problems.append(problem)
    if passing_over:
        return None
    problem = _no_whole_one(state_file, has_state, named, problems)
    advice = (
        "Bring the files back from a copy. To train from the start, use another model_dir, or move "
        "these files away."
    )
    if not candidates:
        raise CheckpointError(f"{problem}. {advice}")
    kind = MissingCheckpointError if missing_files(candidates[0]) else DamagedCheckpointError
    raise kind(problem, advice)


def was_cut_short(path: str) -> bool:
    """Whether a process was killed while it wrote a checkpoint, which is not whole therefore.

    A saver writes shards into a folder of their own, which it removes when the index is whole.

    Args:
      path: the common beginning of its files' names.
    """
    return tf.io.gfile.isdir(path + "_temp") and _problem(path) is not None


def _what_of_state(state_file: str, has_state: bool) -> str:
    return f"{state_file} is {'damaged' if has_state else 'not there'}"


def _no_whole_one(
    state_file: str, has_state: bool, named: Sequence[str], problems: Sequence[str]
) -> str:
    if named:
        return (
            f"{state_file} names checkpoints that are not there, or not whole: {', '.join(named)} "
            f"({problems[0]})"
        )
    if has_state:
        return (
            f"{state_file} is damaged: it must be a text file that names the checkpoints beside "
            "it, and there is none"
        )
    return f"{os.path.dirname(state_file)} holds checkpoints, and not a whole one: {problems[0]}"


def checkpoints_in(model_dir: str) -> list[str]:
    """The checkpoints that the file `checkpoint` names, the oldest first; [] if it is damaged.

    Args:
      model_dir: the folder.

    Returns:
      The common beginnings of their files' names. Files may be missing.

    Raises:
      ForbiddenCheckpointError: the file may not be read.
    """
    state_file = os.path.join(model_dir, "checkpoint")
    try:
        with tf.io.gfile.GFile(state_file) as file:
            file.read(1)
        state = tf.train.get_checkpoint_state(model_dir)
    except tf.errors.PermissionDeniedError as error:
        raise ForbiddenCheckpointError(
            f"{state_file}, which names the checkpoints, may not be read: {error.message}",
            "Give the user that runs this program the right to read it.",
        ) from error
    except (ValueError, UnicodeDecodeError, tf.errors.NotFoundError):  # emptied, no text, or gone
        state = None
    if state is None:
        return []
    newest = state.model_checkpoint_path
    return [path for path in state.all_model_checkpoint_paths if path != newest] + [newest]


def _numbered(model_dir: str) -> list[str]:
    """The checkpoints that lie there, that of the highest step first."""
    names = set(tf.io.gfile.listdir(model_dir))
    found = filter(None, map(_NUMBERED.fullmatch, names))
    ordered = sorted(
        ((int(match[2] or match[4]), match[1] or match[3]) for match in found), reverse=True
    )
    return [os.path.join(model_dir, f"{start}-{step}") for step, start in ordered]


def _problem(path: str) -> str | None:
    """Why a checkpoint is not whole; None if it is."""
    try:
        check_whole(path)
    except MissingCheckpointError:
        return f"{path} is not there (missing {', '.join(missing_files(path))})"
    except DamagedCheckpointError as error:
        return error.problem
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
      ValueError: its name has a character that TensorFlow takes for part of a pattern.
      NotADirectoryError: a file of that name, or of one above it, is in the way.
      PermissionError: it may not be written to.
      DiskFullError: there is no space.
      OSError: it cannot be made or written to for another reason.
    """
    model_dir = os.fspath(model_dir)
    special = sorted(set(PATTERN_CHARACTERS).intersection(model_dir))
    if special:
        raise ValueError(
            f"model_dir {model_dir!r} has {' and '.join(special)} in its name, which TensorFlow "
            "takes for a pattern: checkpoints that it writes there it cannot read. Use a folder of "
            "another name."
        )
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
    except tf.errors.ResourceExhaustedError as error:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(probe)
        raise FullDiskError(
            f"model_dir {model_dir!r} cannot be written to: {error.message}. Free some space, or "
            "use another model_dir."
        ) from error
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
