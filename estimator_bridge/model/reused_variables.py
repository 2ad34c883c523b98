"""Lets several calls of a function share the variables that the first one makes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

__all__ = ["ReusedVariables"]


class ReusedVariables:
    """Lets several calls of a function have the same variables, whatever makes them."""

    def __init__(self) -> None:
        self._variables: list[tf.Variable] = []

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Records the variables that are made in this context."""

        def record(make: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
            variable = make(**kwargs)
            self._variables.append(variable)
            return variable

        with tf.variable_creator_scope(record):
            yield

    @contextlib.contextmanager
    def reusing(self) -> Iterator[None]:
        """Returns the recorded variables in this context, in their order.

        Variables that this context does not make, such as those of a layer for training only, are
        skipped.

        Raises:
          ValueError: a variable has no recorded counterpart.
        """
        remaining_variables = iter(self._variables)

        def reuse(make: Callable[..., tf.Variable], **kwargs: Any) -> tf.Variable:
            del make
            for variable in remaining_variables:
                if _fits(variable, kwargs):
                    return variable
            raise ValueError(
                f"inference makes the variable {kwargs.get('name')!r} of shape "
                f"{kwargs.get('shape')} in evaluation or prediction, but not in training, or in "
                "another order. Make the same layers in the same order in each mode."
            )

        with tf.variable_creator_scope(reuse):
            yield


def _fits(variable: tf.Variable, kwargs: dict[str, Any]) -> bool:
    shape, dtype = kwargs.get("shape"), kwargs.get("dtype")
    if shape is not None and tf.TensorShape(shape) != variable.shape:
        return False
    return dtype is None or tf.as_dtype(dtype) == variable.dtype
