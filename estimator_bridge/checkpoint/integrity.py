"""Checks that a checkpoint's files are complete, and explains files that cannot be read."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.checkpoint.error_types import (
    DamagedCheckpointError,
    ForbiddenCheckpointError,
    MissingCheckpointError,
    UnreadableCheckpointError,
)
from estimator_bridge.checkpoint.index_check import TableError, check_index
from estimator_bridge.errors import CheckpointError

__all__ = [
    "PATTERN_CHARACTERS",
    "check_intact",
    "check_no_pipes",
    "data_files",
    "explained_read_errors",
    "missing_files",
    "open_checkpoint",
    "shorten_list",
    "variable_shapes",
]

# TensorFlow finds a checkpoint's files by a glob pattern of their unescaped path.
PATTERN_CHARACTERS = "[]\\"

_PART = re.compile(r"/part_\d+(?=/)")
_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}")  # a pattern of a prefix would be compiled each time


def open_checkpoint(path: str) -> tf.train.CheckpointReader:
    """Opens a checkpoint.

    Args:
      path: the checkpoint's prefix, such as "model/model.ckpt-100".

    Returns:
      TensorFlow's reader.

    Raises:
      MissingCheckpointError: files are missing.
      DamagedCheckpointError: its index is damaged.
      UnreadableCheckpointError: the files cannot be read now.
    """
    return _open(path)[0]


def _open(path: str) -> tuple[tf.train.CheckpointReader, list[str]]:
    """Returns the reader of a checkpoint, and its data files, listed once: a folder may be slow."""
    missing, files = _missing(path)
    if missing:
        raise MissingCheckpointError(
            f"There is no whole checkpoint {path}: missing {', '.join(missing)}",
            "A checkpoint is named by the prefix of its files, such as model_dir/model.ckpt-100.",
        )
    files.sort()
    try:
        _check_no_pipes(path, files)
    except OSError as error:
        raise UnreadableCheckpointError(
            f"The checkpoint {path} could not be read: {error.filename} {error.strerror}",
            "Restore the file from a backup, or delete what has its name.",
        ) from None
    with explained_read_errors(path):
        if files:
            try:
                check_index(path + ".index", files)
            except TableError as error:
                raise damage_error(path, f"its index {path}.index: {error}") from None
        return tf.train.load_checkpoint(path), files


def check_intact(path: str) -> tf.train.CheckpointReader:
    """Checks that a checkpoint's files exist and are as long as its index requires.

    The check is cheap: it reads no values.

    Args:
      path: the checkpoint's prefix.

    Returns:
      TensorFlow's reader.

    Raises:
      MissingCheckpointError: files are missing.
      DamagedCheckpointError: files are damaged or too short.
      UnreadableCheckpointError: the files cannot be read now.
    """
    reader, files = _open(path)
    if not files:
        return reader  # TensorFlow 0.x's single-file format, which is compressed
    shapes = variable_shapes(path, reader)
    # Strings have no fixed size, so this is a lower bound. Slots of a partitioned variable's parts
    # ('weights/part_1/Ftrl') are each listed with the full shape, but hold only their part.
    sizes = {
        _PART.sub("/part", name): math.prod(shapes[name]) * dtype.size
        for name, dtype in reader.get_variable_to_dtype_map().items()
        if dtype.size and dtype not in (tf.string, tf.variant)
    }
    needed_bytes, actual_bytes = (
        sum(sizes.values()),
        sum(tf.io.gfile.stat(file).length for file in files),
    )
    if actual_bytes < needed_bytes:
        raise damage_error(
            path,
            f"its data file{'s have' if len(files) > 1 else ' has'} {actual_bytes} bytes, but the "
            f"values that its index lists need {needed_bytes} ({', '.join(files)})",
        )
    return reader


def variable_shapes(path: str, reader: tf.train.CheckpointReader) -> dict[str, list[int]]:
    """Returns the shapes of a checkpoint's variables, by name.

    Raises:
      DamagedCheckpointError: a name is not UTF-8.
    """
    try:
        return reader.get_variable_to_shape_map()
    except UnicodeDecodeError as error:
        raise damage_error(path, f"a name in its index is not UTF-8: {error}") from None


def missing_files(path: str) -> list[str]:
    """Lists the files that a checkpoint lacks.

    Args:
      path: the checkpoint's prefix.

    Returns:
      The missing files' names; [] for a complete checkpoint.
    """
    return _missing_and_data_files(path)[0]


def _missing_and_data_files(path: str) -> tuple[list[str], list[str]]:
    """Returns the files that a checkpoint lacks, and its data files."""
    if not tf.io.gfile.exists(path + ".index"):
        # TensorFlow 0.x wrote a single file of exactly that name.
        alone = tf.io.gfile.exists(path) and not tf.io.gfile.isdir(path)
        return ([], data_files(path)) if alone else ([path + ".index"], [])
    shards = data_files(path)
    counts = {int(shard.rpartition("-of-")[2]) for shard in shards}
    if len(counts) != 1:  # none, or a mix of two checkpoints with one name
        return [path + ".data-00000-of-?????"], shards
    (count,) = counts
    shard_names = [f"{path}.data-{i:05d}-of-{count:05d}" for i in range(count)]
    return [shard for shard in shard_names if shard not in shards], shards


def data_files(path: str) -> list[str]:
    """Lists the existing data files of a checkpoint."""
    folder, start = os.path.split(path)
    return [
        os.path.join(folder, name)
        for name in tf.io.gfile.listdir(folder or ".")
        if name.startswith(start) and _SHARD.fullmatch(name, len(start))
    ]


def check_no_pipes(path: str) -> None:
    """Checks that no file of a checkpoint is a pipe or a device, for which TensorFlow would wait.

    Args:
      path: the checkpoint's prefix.

    Raises:
      OSError: one is; `filename` has its path.
    """
    files: list[str] = []
    with contextlib.suppress(tf.errors.OpError):  # there is no such folder
        files = data_files(path)
    _check_no_pipes(path, files)


def _check_no_pipes(path: str, files: Sequence[str]) -> None:
    for file in (path, f"{path}.index", *files):
        check_is_no_pipe(file)


@contextlib.contextmanager
def explained_read_errors(path: str) -> Iterator[None]:
    """Turns TensorFlow's errors during a read into ones that explain the problem.

    Args:
      path: the checkpoint that is read within the context.

    Raises:
      MissingCheckpointError: the files were deleted during the read.
      DamagedCheckpointError: the contents are wrong.
      UnreadableCheckpointError: the files could not be read for another reason, such as
        permissions. An InvalidArgumentError, a mismatch with the graph, passes unchanged.
    """
    try:
        yield
    except (IndexError, tf.errors.OpError) as error:  # the reader raises IndexError for "short"
        if isinstance(error, (CheckpointError, tf.errors.InvalidArgumentError)):
            raise
        raise _error_of(path, error) from error
    except ValueError as error:  # a v1 Saver's error for missing files
        if "is not a valid checkpoint" not in str(error) or isinstance(error, CheckpointError):
            raise
        raise _error_of(path, error) from error


def damage_error(path: str, reason: str) -> DamagedCheckpointError:
    """Returns the error for a checkpoint whose contents are wrong.

    Args:
      path: the checkpoint.
      reason: what is wrong with it.
    """
    return DamagedCheckpointError(
        f"The checkpoint {path} is damaged: {reason}",
        "It may have been copied in part, or written to a full disk. Restore its files from a "
        "backup; or delete them (those whose names start with this prefix) to resume from the "
        "checkpoint before it; or use another model_dir.",
    )


def _error_of(path: str, error: Exception) -> CheckpointError:
    """Returns our error for one of TensorFlow's, judging by the files as they are now."""
    if isinstance(error, tf.errors.PermissionDeniedError):
        return _no_permission(path, error)
    missing, _ = _missing(path)
    if missing:
        return MissingCheckpointError(
            f"The checkpoint {path} was deleted while it was read: missing {', '.join(missing)}",
            "A running training deletes its older checkpoints: RunConfig(keep_checkpoint_max"
            "=...) sets how many it keeps.",
        )
    if any(character in path for character in PATTERN_CHARACTERS):
        return UnreadableCheckpointError(
            f"TensorFlow cannot read the checkpoint {path}: the characters [ ] and \\ are special "
            "in its patterns of file names",
            "Rename the folder; the checkpoints in it stay valid.",
        )
    if isinstance(error, _OF_THE_SURROUNDINGS):
        return UnreadableCheckpointError(
            f"The checkpoint {path} could not be read: {_reason(error, path)}",
            "Its contents may be intact: check the disk or network it is on, and start again.",
        )
    return damage_error(path, _reason(error, path))


# Errors that are not about a checkpoint's contents. TensorFlow has no single type for those.
_OF_THE_SURROUNDINGS = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnauthenticatedError,
    tf.errors.UnavailableError,
)


def _missing(path: str) -> tuple[list[str], list[str]]:
    try:
        return _missing_and_data_files(path)
    except tf.errors.PermissionDeniedError as error:
        raise _no_permission(path, error) from error


def _no_permission(path: str, error: tf.errors.OpError) -> ForbiddenCheckpointError:
    return ForbiddenCheckpointError(
        f"The checkpoint {path} may not be read: {_reason(error, path)}",
        "Give the user that runs this program the right to read the files and to enter the folder.",
    )


def shorten_list(names: Iterable[str], limit: int = 5) -> str:
    """Joins some names for an error: "a, b and 3 more"."""
    names = list(names)
    text = ", ".join(itertools.islice(names, limit))
    return f"{text} and {len(names) - limit} more" if len(names) > limit else text or "nothing"


def _reason(error: Exception, path: str) -> str:
    """Returns the line of an error that states the reason; others name the graph's nodes."""
    lines = str(getattr(error, "message", None) or error).strip().splitlines()
    reasons = [line for line in lines if path in line or "Read less bytes" in line]
    return (reasons or lines)[0].strip()
