"""Checks before a restore that a checkpoint is complete and fits the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.checked_contents import checked_contents
from estimator_bridge.checkpoint.error_types import CheckpointMismatchError, MissingVariableError
from estimator_bridge.checkpoint.integrity import shorten_list
from estimator_bridge.tensorflow_private.variables import saved_slice

__all__ = ["check_checkpoint", "describe_variables"]

_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"


def describe_variables(variables: Iterable[tf.Variable]) -> dict[str, tuple[Any, tf.DType]]:
    """Describes the contents of a checkpoint of some graph variables.

    Args:
      variables: from a ``tf.Graph``; the parts of a partitioned variable are saved as one.

    Returns:
      (shape, dtype) by the name in the checkpoint.
    """
    properties = {}
    for variable in variables:
        part = saved_slice(variable)
        name, shape = (part.full_name, part.full_shape) if part else (None, variable.shape)
        properties[name or variable.op.name] = (shape, variable.dtype.base_dtype)
    return properties


def check_checkpoint(path: str, expected: Mapping[str, tuple[Any, Any]]) -> None:
    """Checks that a checkpoint can be restored into a model's variables.

    The check is cheap: it reads no values. Variables that the model does not have are not an
    error.

    Args:
      path: the checkpoint's prefix, such as "model/model.ckpt-100".
      expected: the model's variables: (shape, dtype) by name, as from `describe_variables`.

    Raises:
      CheckpointError: files are missing, damaged or too short, or the checkpoint lacks variables,
        as one of another model does.
      CheckpointMismatchError: a variable has another shape or type; both a CheckpointError and the
        ``tf.errors.InvalidArgumentError`` that a restore would raise.
    """
    shapes, types = checked_contents(path)
    _check_names(path, shapes, expected)
    wrong = [
        f"{name} is {tf.as_dtype(dtype).name} {tf.TensorShape(shape)} in the model and "
        f"{types[name].name} {tf.TensorShape(shapes[name])} in the checkpoint"
        for name, (shape, dtype) in expected.items()
        if types[name] != tf.as_dtype(dtype)
        or not tf.TensorShape(shape).is_compatible_with(shapes[name])
    ]
    if wrong:
        raise CheckpointMismatchError(
            "Restoring from checkpoint failed. This is most likely due to a mismatch between the "
            f"model and the checkpoint {path}: {shorten_list(wrong, 3)}. Build the model with the "
            "sizes it was trained with, or use another model_dir."
        )


def _check_names(
    path: str, saved_variables: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    missing = sorted(set(expected) - set(saved_variables))
    if missing and _OBJECTS in saved_variables:
        raise MissingVariableError(
            f"Key {missing[0]} not found in checkpoint {path}, which was written by "
            "tf.train.Checkpoint: its names are paths through objects. Restore it with "
            "Scaffold(saver=tf.train.Checkpoint(...)) of the same objects, or load its values "
            "with WarmStartSettings, which resolves such names."
        )
    if missing:
        others = sorted(set(saved_variables) - set(expected))
        raise MissingVariableError(
            f"Key {missing[0]} not found in checkpoint {path}: it belongs to another model, or to "
            f"this one before a change. It lacks {len(missing)} of the model's {len(expected)} "
            f"variables ({shorten_list(missing)}), and has instead {shorten_list(others)}. Use "
            "another model_dir; to load the variables that both have, name the checkpoint in "
            "WarmStartSettings."
        )
