"""Lists and loads the variables of a checkpoint."""

from __future__ import annotations

import difflib

import numpy as np
import tensorflow as tf

from estimator_bridge.checkpoint.error_types import MissingVariableError
from estimator_bridge.checkpoint.folder import latest_checkpoint
from estimator_bridge.checkpoint.integrity import (
    explained_read_errors,
    open_checkpoint,
    shorten_list,
    variable_shapes,
)
from estimator_bridge.errors import CheckpointError

__all__ = ["list_variables", "load_variable", "step_of"]


def list_variables(path: str) -> list[tuple[str, list[int]]]:
    """Lists the variables of a checkpoint.

    Args:
      path: a checkpoint, or a folder to use its latest one.

    Returns:
      (name, shape) pairs, ordered by name.

    Raises:
      CheckpointError: the checkpoint does not exist or is damaged.
    """
    path = _resolve(path)
    shapes = variable_shapes(path, open_checkpoint(path))
    return [(name, list(shapes[name])) for name in sorted(shapes)]


def load_variable(path: str, name: str) -> np.ndarray:
    """Returns the value of a variable in a checkpoint.

    Args:
      path: a checkpoint, or a folder to use its latest one.
      name: the variable's name; a trailing ":0" is ignored.

    Returns:
      The value.

    Raises:
      CheckpointError: the checkpoint or variable does not exist, or the checkpoint is damaged.
    """
    path = _resolve(path)
    reader = open_checkpoint(path)
    name = name[: -len(":0")] if name.endswith(":0") else name
    if not reader.has_tensor(name):
        names = sorted(reader.get_variable_to_shape_map())
        near = difflib.get_close_matches(name, names, n=3)
        raise MissingVariableError(
            f"Key {name} not found in checkpoint {path}. "
            f"{'Similar names:' if near else 'It has'} {shorten_list(near or names)}."
        )
    with explained_read_errors(path):
        return reader.get_tensor(name)


def step_of(path: str) -> int:
    """Returns the global step in a checkpoint; 0 if a custom saver left it out."""
    try:
        return int(load_variable(path, tf.compat.v1.GraphKeys.GLOBAL_STEP))
    except CheckpointError:
        return 0


def _resolve(path: str) -> str:
    if not tf.io.gfile.isdir(path):
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise CheckpointError(f"Couldn't find a checkpoint in the folder {path}.")
    return latest
