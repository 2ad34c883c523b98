"""Finds the latest checkpoint of a folder, and checks that the folder is writable."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.checkpoint.checked_contents import checked_contents
from estimator_bridge.checkpoint.disk_problems import disk_problem
from estimator_bridge.checkpoint.error_types import (
    DamagedCheckpointError,
    ForbiddenCheckpointError,
    MissingCheckpointError,
)
from estimator_bridge.checkpoint.integrity import PATTERN_CHARACTERS, missing_files
from estimator_bridge.errors import CheckpointError
from estimator_bridge.own_files import staged

__all__ = [
    "check_still_writable",
    "check_writable",
    "checkpoints_in",
    "latest_checkpoint",
    "was_cut_short",
]

_writable: set[str] = set()  # the folders in which this process could write a file

# As tf.train.Saver names them: with an index, or as a single file in the format before V2. Input
# positions are stored next to the model's checkpoints and are excluded.
_NUMBERED = re.compile(r"(?!input(?:_\w+)?\.ckpt-)(?:(.+)-(\d+)\.index|(.+\.ckpt)-(\d+))")


def latest_checkpoint(model_dir: str, passing_over: Collection[str] = ()) -> str | None:
    """Finds the newest complete checkpoint.

    A process may be killed while it writes, and a folder may be copied in part. If the newest
    checkpoint that the file `checkpoint` lists is incomplete, or that file is missing, this uses
    the newest complete checkpoint, with a warning.

    Args:
      model_dir: the folder with the file `checkpoint`, which lists its checkpoints.
      passing_over: checkpoints to skip because they could not be restored.

    Returns:
      The checkpoint's prefix; None if no checkpoint was written yet.

    Raises:
      CheckpointError: there are traces of checkpoints, but no complete checkpoint.
      UnreadableCheckpointError: a checkpoint cannot be read now, for example without permission.
    """
    model_dir = os.fspath(model_dir)
    if not tf.io.gfile.isdir(model_dir):
        return None
    state_file = os.path.join(model_dir, "checkpoint")
    has_state = tf.io.gfile.exists(state_file)
    listed_prefixes = checkpoints_in(model_dir)[::-1] if has_state else []
    unlisted_prefixes = [path for path in _numbered_prefixes(model_dir) if not was_cut_short(path)]
    candidates = list(dict.fromkeys([*listed_prefixes, *unlisted_prefixes]))
    if not has_state and not candidates:
        return None
    problems: list[str] = []
    for path in candidates:
        # A moved folder holds the files, but not under their old absolute paths.
        for place in dict.fromkeys([path, os.path.join(model_dir, os.path.basename(path))]):
            if place in passing_over:
                continue
            problem = _problem(place)
            if problem is None:
                if not passing_over and path not in listed_prefixes[:1]:
                    why = problems[0] if listed_prefixes else _what_of_state(state_file, has_state)
                    logging.warning("%s; taking %s", why, place)
                return place
            problems.append(problem)
    if passing_over:
        return None
    problem = _no_whole_one(state_file, has_state, listed_prefixes, problems)
    advice = (
        "Restore the files from a backup. To train from the start, use another model_dir, or move "
        "these files away."
    )
    if not candidates:
        raise CheckpointError(f"{problem}. {advice}")
    kind = MissingCheckpointError if missing_files(candidates[0]) else DamagedCheckpointError
    raise kind(problem, advice)


def was_cut_short(path: str) -> bool:
    """Returns whether a process was killed while it wrote a checkpoint, leaving it incomplete.

    A saver writes shards into a separate folder, which it removes once the index is complete.

    Args:
      path: the checkpoint's prefix.
    """
    return tf.io.gfile.isdir(path + "_temp") and _problem(path) is not None


def _what_of_state(state_file: str, has_state: bool) -> str:
    return f"{state_file} is {'damaged' if has_state else 'not there'}"


def _no_whole_one(
    state_file: str, has_state: bool, listed_prefixes: Sequence[str], problems: Sequence[str]
) -> str:
    if listed_prefixes:
        return (
            f"{state_file} names checkpoints that are not there, or not whole: "
            f"{', '.join(listed_prefixes)} ({problems[0]})"
        )
    if has_state:
        return (
            f"{state_file} is damaged: it must be a text file that names the checkpoints beside "
            "it, and there is none"
        )
    return f"{os.path.dirname(state_file)} holds checkpoints, but not a whole one: {problems[0]}"


def checkpoints_in(model_dir: str) -> list[str]:
    """Lists the checkpoints named by the file `checkpoint`, oldest first; [] if it is damaged.

    Args:
      model_dir: the folder of the checkpoints.

    Returns:
      The checkpoints' prefixes. Files may be missing.

    Raises:
      ForbiddenCheckpointError: the file may not be read.
    """
    state_file = os.path.join(model_dir, "checkpoint")
    try:
        check_is_no_pipe(state_file)
        with tf.io.gfile.GFile(state_file) as file:
            file.read(1)
        state = tf.train.get_checkpoint_state(model_dir)
    except tf.errors.PermissionDeniedError as error:
        raise ForbiddenCheckpointError(
            f"{state_file}, which names the checkpoints, may not be read: {error.message}",
            "Give the user that runs this program the right to read it.",
        ) from error
    except (ValueError, UnicodeDecodeError, tf.errors.NotFoundError):  # empty, not text, or deleted
        state = None
    if state is None:
        return []
    newest = state.model_checkpoint_path
    return [path for path in state.all_model_checkpoint_paths if path != newest] + [newest]


def _numbered_prefixes(model_dir: str) -> list[str]:
    """Lists the checkpoints in the folder, highest step first."""
    names = set(tf.io.gfile.listdir(model_dir))
    matches = filter(None, map(_NUMBERED.fullmatch, names))
    order = sorted(
        ((int(match[2] or match[4]), match[1] or match[3]) for match in matches), reverse=True
    )
    return [os.path.join(model_dir, f"{start}-{step}") for step, start in order]


def _problem(path: str) -> str | None:
    """Returns why a checkpoint is not complete; None if it is."""
    try:
        checked_contents(path)
    except MissingCheckpointError:
        return f"{path} is not there (missing {', '.join(missing_files(path))})"
    except DamagedCheckpointError as error:
        return error.problem
    return None


class NoFolderError(NotADirectoryError, tf.errors.FailedPreconditionError):
    """A file is in the place of a folder; TensorFlow calls this a failed precondition."""

    def __init__(self, message: str):
        tf.errors.FailedPreconditionError.__init__(self, None, None, message)
        NotADirectoryError.__init__(self, message)  # whose text is that of its arguments


def check_writable(model_dir: str) -> None:
    """Checks that files can be written into a folder, and creates it if missing.

    Args:
      model_dir: the folder to check.

    Raises:
      ValueError: its name has a character that TensorFlow treats as part of a pattern.
      NotADirectoryError: the path or one of its parents is a file.
      PermissionError: the user may not write to it.
      DiskFullError: there is no space left.
      OSError: it cannot be created or written to for another reason.
    """
    model_dir = os.fspath(model_dir)
    special = sorted(set(PATTERN_CHARACTERS).intersection(model_dir))
    if special:
        raise ValueError(
            f"model_dir {model_dir!r} has {' and '.join(special)} in its name, which TensorFlow "
            "treats as a pattern: it could not read the checkpoints that it writes there. Use a "
            "folder of another name."
        )
    in_the_way = _file_on_the_way(model_dir)
    if in_the_way:
        raise NoFolderError(
            f"model_dir {model_dir!r} must be a folder, but {in_the_way!r} is a file. Use another "
            "model_dir, or move the file."
        )
    try:
        tf.io.gfile.makedirs(model_dir)
        with staged(model_dir, "probe") as probe, tf.io.gfile.GFile(probe, "w") as file:
            file.write("May this folder be written to?")
        _writable.add(model_dir)
    except (OSError, tf.errors.OpError) as error:
        diagnosis = disk_problem(error, model_dir)
        if diagnosis:
            problem, reason = diagnosis
            raise problem.error(
                f"model_dir {model_dir!r} cannot be written to: {reason}. {problem.statement}. "
                f"{problem.advice}, or use another model_dir.",
                problem.number,
            ) from error
        reason = error.message if isinstance(error, tf.errors.OpError) else str(error)
        is_refused = isinstance(error, (PermissionError, tf.errors.PermissionDeniedError))
        raise (PermissionError if is_refused else OSError)(
            f"model_dir {model_dir!r} cannot be written to: {reason}. Checkpoints and "
            "summaries go there; use another model_dir, or change its permissions."
        ) from error


def check_still_writable(model_dir: str) -> None:
    """Checks as ``check_writable`` does, which a call for the same folder need not do again.

    A later call only asks the system whether the user may write there, in a hundredth of the time
    that a file takes. It does not notice a full disk.

    Args:
      model_dir: the folder.

    Raises:
      OSError: see ``check_writable``, as the others.
      ValueError: see there.
    """
    if os.fspath(model_dir) not in _writable or not os.access(model_dir, os.W_OK | os.X_OK):
        check_writable(model_dir)


def _file_on_the_way(path: str) -> str | None:
    while path:
        if tf.io.gfile.exists(path):
            return None if tf.io.gfile.isdir(path) else path
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
    return None
