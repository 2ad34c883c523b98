"""Reads checkpoints: the functions of tf.train, with the names that arguments had in tf.contrib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import reader_of

__all__ = ["init_from_checkpoint", "list_variables", "load_checkpoint", "load_variable"]


def load_checkpoint(filepattern: str) -> Any:
    """Returns a reader of a checkpoint.

    Args:
      filepattern: its path, or a folder, of which the latest checkpoint is read.
    """
    return reader_of(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """Returns a variable's value as an array.

    Args:
      checkpoint_dir: the path of a checkpoint, or a folder.
      name: the variable's name.
    """
    return tf.train.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """Returns the name and the shape of each variable.

    Args:
      checkpoint_dir: the path of a checkpoint, or a folder.
    """
    return tf.train.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """Lets variables begin with the values of a checkpoint.

    Args:
      checkpoint_dir: the path of a checkpoint, or a folder.
      assignment_map: by name or scope in the checkpoint, a variable, several, or a scope.
    """
    tf.compat.v1.train.init_from_checkpoint(checkpoint_dir, assignment_map)
