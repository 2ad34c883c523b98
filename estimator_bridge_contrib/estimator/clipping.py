"""An optimizer that clips gradients before it applies them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["clip_gradients_by_norm"]


def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> _ClipByNorm:
    """Makes an optimizer that scales all gradients down to a maximal global norm.

    Args:
      optimizer: a v1 optimizer, which applies the gradients.
      clip_norm: the largest L2 norm of all gradients together.

    Returns:
      A v1 optimizer.
    """
    return _ClipByNorm(optimizer, clip_norm)


class _ClipByNorm(tf.compat.v1.train.Optimizer):
    def __init__(self, optimizer: Any, clip_norm: Any):
        super().__init__(use_locking=False, name=f"ClipByNorm{optimizer.get_name()}")
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None):
        gradients, variables = zip(*grads_and_vars)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(list(zip(clipped, variables)), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        return self._optimizer.variables()
