"""Optimizers that the models share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["OptimizerByScope"]


class OptimizerByScope(tf.compat.v1.train.Optimizer):
    """Applies the gradients of each scope's variables with an optimizer of its own.

    All gradients are of one loss and are computed at once, so that a step on a TPU is one program
    with one sum over the cores for each gradient.

    Args:
        optimizers: an optimizer for each outermost scope of variables.
    """

    def __init__(self, optimizers: Mapping[str, Any]):
        super().__init__(use_locking=False, name="OptimizerByScope")
        self._optimizers = dict(optimizers)

    def apply_gradients(
        self,
        grads_and_vars: Sequence[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies gradients, and counts the global step once after all of them.

        Raises:
            ValueError: a variable is in none of the scopes.
        """
        parts: dict[str, list[tuple[Any, Any]]] = {scope: [] for scope in self._optimizers}
        for gradient, variable in grads_and_vars:
            scope = variable.name.partition("/")[0]
            if scope not in parts:
                raise ValueError(
                    f"variable {variable.name!r} is in none of the scopes {', '.join(parts)}, "
                    "which have an optimizer each."
                )
            parts[scope].append((gradient, variable))
        updates = [
            self._optimizers[scope].apply_gradients(part) for scope, part in parts.items() if part
        ]
        if global_step is None:
            return tf.group(*updates, name=name)
        with tf.control_dependencies(updates):
            return tf.compat.v1.assign_add(global_step, 1, name=name).op
