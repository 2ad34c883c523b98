"""Optimizers that wrap another one, to add work or to skip steps."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "MultitaskOptimizerWrapper",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
]

_v1 = tf.compat.v1


class VariableClippingOptimizer(tf.compat.v1.train.Optimizer):
    """Applies gradients with another optimizer, and then scales weights down to a norm.

    Args:
      opt: the other v1 optimizer.
      vars_to_clip_dims: by variable (or its ref() or op name), the dimensions of the norm: [1]
        for the rows of a matrix.
      max_norm: the largest L2 norm.
      use_locking: whether to block other writes.
      colocate_clip_ops_with_vars: has no effect: a strategy places operations.
      name: the operations' name.
    """

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ):
        del colocate_clip_ops_with_vars
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        self._dims = {_name_of(key): list(dims) for key, dims in vars_to_clip_dims.items()}

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Delegates to the other optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Delegates to the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Delegates to the other optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """Delegates to the other optimizer."""
        return self._opt.variables()

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Delegates to the other optimizer; the operation clips the weights too."""
        grads_and_vars = list(grads_and_vars)
        with tf.name_scope(name or self._name) as scope:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            with tf.control_dependencies([update]):
                clips = [
                    self._clip(gradient, var, self._dims[var.op.name])
                    for gradient, var in grads_and_vars
                    if gradient is not None and var.op.name in self._dims
                ]
            return tf.group(update, *clips, name=scope)

    def _clip(self, gradient: Any, var: Any, dims: list[int]) -> Any:
        if isinstance(gradient, tf.IndexedSlices) and 0 not in dims:
            rows, _ = tf.unique(gradient.indices)
            clipped = tf.clip_by_norm(tf.gather(var, rows), self._max_norm, dims)
            return _v1.scatter_update(var, rows, clipped)
        return _v1.assign(var, tf.clip_by_norm(tf.identity(var), self._max_norm, dims))


def _name_of(key: Any) -> str:
    if isinstance(key, str):
        return key
    return (key.deref() if hasattr(key, "deref") else key).op.name


class MultitaskOptimizerWrapper:
    """Skips variables, and their slots, whose whole gradient is zero in a step.

    So tasks that alternate do not move each other's weights by momentum.

    Args:
      opt: a v1 optimizer, which is modified; the wrapper has all its attributes.

    Raises:
      TypeError: it is not an optimizer.
    """

    def __init__(self, opt: Any):
        if not isinstance(opt, _v1.train.Optimizer):
            raise TypeError(
                "Supplied optimizer must be an instance of tf.train.Optimizer, got "
                f"{type(opt).__name__}."
            )
        self._opt = opt
        for name in (
            "_apply_dense",
            "_resource_apply_dense",
            "_apply_sparse",
            "_resource_apply_sparse",
        ):
            setattr(opt, name, types.MethodType(_unless_zero(getattr(opt, name)), opt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _unless_zero(apply: Any) -> Any:
    def applied(self: Any, grad: Any, *args: Any, **kwargs: Any) -> Any:
        del self

        def update() -> tf.Tensor:
            with tf.control_dependencies([apply(grad, *args, **kwargs)]):
                return tf.constant(True)

        return _v1.cond(_is_zero(grad), lambda: tf.constant(False), update).op

    return applied


def _is_zero(grad: Any) -> tf.Tensor:
    values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
    return tf.equal(tf.math.count_nonzero(values), 0)


def clip_gradients_by_global_norm(
    gradients_variables: Any, clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], tf.Tensor]:
    """Scales all gradients down to a maximal global norm.

    Args:
      gradients_variables: pairs of a gradient, or None, and a variable.
      clip_norm: the largest L2 norm of all gradients together.

    Returns:
      The pairs with the new gradients, and their norm before.
    """
    gradients, variables = zip(*gradients_variables)
    norm = tf.linalg.global_norm(gradients)
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
