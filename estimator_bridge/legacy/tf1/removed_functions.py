"""Functions of TF1, private ones among them, that have no equivalent name in TensorFlow 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = [
    "RegisterShape",
    "experimental_list_devices",
    "matrix",
    "proto_of_variable",
    "scalar",
    "unknown_shape",
    "variable_of_proto",
    "vector",
]


def experimental_list_devices() -> list[str]:
    """Lists the names of this process's devices, as '/job:localhost/.../device:CPU:0'."""
    with eager_mode():
        return [device.name for device in tf.config.list_logical_devices()]


class RegisterShape:
    """A decorator of TF1's shape functions, which TensorFlow ignored since 1.0.

    Args:
      op_type: the type of an operation.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function."""
        return function


def unknown_shape(op: tf.Operation) -> list[tf.TensorShape]:
    """Returns an unknown shape for each output of an operation."""
    return [tf.TensorShape(None) for _ in op.outputs]


def scalar() -> tf.TensorShape:
    """Returns the shape of a scalar."""
    return tf.TensorShape([])


def vector(length: int | None) -> tf.TensorShape:
    """Returns the shape of a vector."""
    return tf.TensorShape([length])


def matrix(rows: int | None, cols: int | None) -> tf.TensorShape:
    """Returns the shape of a matrix."""
    return tf.TensorShape([rows, cols])


def proto_of_variable(v: tf.Variable, export_scope: str | None = None) -> Any:
    """Returns a variable's VariableDef, as collections of a MetaGraphDef hold it."""
    return v.to_proto(export_scope=export_scope)


def variable_of_proto(v: Any, import_scope: str | None = None) -> tf.Variable:
    """Returns the variable of the current graph that a VariableDef describes."""
    return tf.compat.v1.Variable.from_proto(v, import_scope=import_scope)
