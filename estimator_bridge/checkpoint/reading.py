"""Reads checkpoints, and says of a damaged one that it is."""

from __future__ import annotations

import contextlib
import difflib
import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import tensorflow as tf

from estimator_bridge.checkpoint.folder import latest_checkpoint, missing_files
from estimator_bridge.errors import CheckpointError

__all__ = ["a_few", "list_variables", "load_variable", "open_checkpoint", "reading"]


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Turns TensorFlow's errors of a damaged checkpoint into ones that name it.

    Args:
      path: the checkpoint that is read within.

    Raises:
      CheckpointError: it could not be read. What cannot be put into the graph passes as it is.
    """
    try:
        yield
    except (IndexError, tf.errors.OpError) as error:  # IndexError is how the reader says "short"
        if isinstance(error, tf.errors.InvalidArgumentError):
            raise
        raise damaged(path, _reason(error, path)) from error


def damaged(path: str, reason: str) -> CheckpointError:
    """The error for a checkpoint that cannot be read.

    Args:
      path: the checkpoint.
      reason: what is wrong with it.
    """
    return CheckpointError(
        f"The checkpoint {path} is damaged: {reason}. It may have been copied in part, or written "
        "to a full disk. Bring back its files from a copy; or delete them (those whose names "
        "start so), to go on from the checkpoint before it; or use another model_dir."
    )


def open_checkpoint(path: str) -> tf.train.CheckpointReader:
    """Opens a checkpoint.

    Args:
      path: the common beginning of its files' names, as "model/model.ckpt-100".

    Returns:
      TensorFlow's reader.

    Raises:
      CheckpointError: files are missing, or its index is damaged.
    """
    missing = missing_files(path)
    if missing:
        raise CheckpointError(
            f"There is no whole checkpoint {path}: missing {', '.join(missing)}. A checkpoint is "
            "named by the common beginning of its files' names, as model_dir/model.ckpt-100."
        )
    with reading(path):
        return tf.train.load_checkpoint(path)


def list_variables(path: str) -> list[tuple[str, list[int]]]:
    """What is in a checkpoint.

    Args:
      path: a checkpoint, or a folder, whose latest is meant.

    Returns:
      (name, shape) pairs, ordered by name.

    Raises:
      CheckpointError: there is none, or it is damaged.
    """
    shapes = open_checkpoint(_resolved(path)).get_variable_to_shape_map()
    return [(name, list(shapes[name])) for name in sorted(shapes)]


def load_variable(path: str, name: str) -> np.ndarray:
    """The value of a variable in a checkpoint.

    Args:
      path: a checkpoint, or a folder, whose latest is meant.
      name: the variable's; a trailing ":0" is taken for the tensor's.

    Returns:
      The value.

    Raises:
      CheckpointError: there is no such checkpoint or variable, or it is damaged.
    """
    path = _resolved(path)
    reader = open_checkpoint(path)
    name = name[: -len(":0")] if name.endswith(":0") else name
    if not reader.has_tensor(name):
        names = sorted(reader.get_variable_to_shape_map())
        near = difflib.get_close_matches(name, names, n=3)
        raise CheckpointError(
            f"Key {name} not found in checkpoint {path}. "
            f"{'Near to it are' if near else 'It has'} {a_few(near or names)}."
        )
    with reading(path):
        return reader.get_tensor(name)


def a_few(names: Iterable[str], most: int = 5) -> str:
    """Some names, for an error: "a, b and 3 more"."""
    names = list(names)
    shown = ", ".join(itertools.islice(names, most))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or "nothing"


def _reason(error: Exception, path: str) -> str:
    """The line of an error that tells, as a session's begin and end with the graph's nodes."""
    lines = str(getattr(error, "message", None) or error).strip().splitlines()
    told = [line for line in lines if path in line or "Read less bytes" in line]
    return (told or lines)[0].strip()


def _resolved(path: str) -> str:
    if not tf.io.gfile.isdir(path):
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise CheckpointError(f"Couldn't find a checkpoint in the folder {path}.")
    return latest
