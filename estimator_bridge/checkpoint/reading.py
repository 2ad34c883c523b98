"""What is in a checkpoint."""

from __future__ import annotations

import difflib

import numpy as np
import tensorflow as tf

from estimator_bridge.checkpoint.error_types import MissingVariableError
from estimator_bridge.checkpoint.folder import latest_checkpoint
from estimator_bridge.checkpoint.whole import a_few, open_checkpoint, reading
from estimator_bridge.errors import CheckpointError

__all__ = ["list_variables", "load_variable", "step_of"]


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
        raise MissingVariableError(
            f"Key {name} not found in checkpoint {path}. "
            f"{'Near to it are' if near else 'It has'} {a_few(near or names)}."
        )
    with reading(path):
        return reader.get_tensor(name)


def step_of(path: str) -> int:
    """The global step that a checkpoint holds; 0 where a saver of the user's own left it out."""
    try:
        return int(load_variable(path, tf.compat.v1.GraphKeys.GLOBAL_STEP))
    except CheckpointError:
        return 0


def _resolved(path: str) -> str:
    if not tf.io.gfile.isdir(path):
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise CheckpointError(f"Couldn't find a checkpoint in the folder {path}.")
    return latest
