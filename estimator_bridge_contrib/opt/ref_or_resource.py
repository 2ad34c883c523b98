"""Optimizer updates for both kinds of TensorFlow 1 variables: reference and resource."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["RefOrResourceUpdates", "factor"]


def factor(value: Any, variable: Any) -> tf.Tensor:
    """Returns a number in the type of a variable."""
    return tf.cast(value, variable.dtype.base_dtype)


class RefOrResourceUpdates:
    """Lets a v1 optimizer define its updates once, for reference and resource variables.

    A subclass defines ``_update(grad, var)``, and ``_update_rows(grad, var, indices)`` for the rows
    of a variable that have a gradient; each row occurs once.
    """

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        raise NotImplementedError

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        raise NotImplementedError

    def _apply_dense(self, grad: tf.Tensor, var: Any) -> Any:
        return self._update(grad, var)

    def _resource_apply_dense(self, grad: tf.Tensor, var: Any) -> Any:
        return self._update(grad, var)

    def _apply_sparse(self, grad: tf.IndexedSlices, var: Any) -> Any:
        return self._update_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        return self._update_rows(grad, var, indices)
