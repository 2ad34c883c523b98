"""Variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "replace_tensor_conversion",
    "restore_variable_v1",
    "saved_slice",
    "tensor_conversion",
]


def restore_variable_v1() -> None:
    """Puts VariableV1, which TensorFlow moved, back where libraries import it from."""
    from tensorflow.python.ops import variables

    if not hasattr(variables, "VariableV1"):
        variables.VariableV1 = tf.compat.v1.Variable


def saved_slice(variable: Any) -> Any:
    """A variable's part of a partitioned variable (a SaveSliceInfo); None for a whole variable.

    Checkpoints store the parts under one name; the public API shows only the whole variable.
    """
    return getattr(variable, "_save_slice_info", None)


def tensor_conversion(variable: tf.Variable) -> Callable[..., tf.Tensor]:
    """The function by which an operation reads a variable among its inputs."""
    return variable._dense_var_to_tensor


def replace_tensor_conversion(variable: tf.Variable, convert: Callable[..., tf.Tensor]) -> None:
    """Makes operations read a variable by another function."""
    variable._dense_var_to_tensor = convert
