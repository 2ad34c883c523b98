"""An optimizer that drops gradients of a step that is too old."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["DropStaleGradientOptimizer"]

_v1 = tf.compat.v1


class DropStaleGradientOptimizer(tf.compat.v1.train.Optimizer):
    """Applies gradients with another optimizer, unless the global step has moved on too far.

    Each worker remembers the global step before it computes gradients. If more than ``staleness``
    steps were made when it applies them, it drops them, and counts that in the variable
    ``stale_counter``. Workers that step together, as those of this library's strategies, drop none.

    Args:
      opt: the other v1 optimizer.
      staleness: the largest number of steps of others.
      use_locking: whether to block other writes.
      name: the operations' name.
    """

    def __init__(
        self, opt: Any, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"
    ):
        super().__init__(use_locking, name)
        self._opt, self._staleness = opt, staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Remembers the global step, and delegates to the other optimizer.

        Raises:
          TypeError: there is no global step.
        """
        step = _v1.train.get_global_step()
        if step is None:
            raise TypeError(
                "DropStaleGradientOptimizer compares global steps, and there is none. Call "
                "tf.compat.v1.train.get_or_create_global_step() before minimize()."
            )
        self._local_step = step + 0
        with tf.control_dependencies([self._local_step]):
            return self._opt.compute_gradients(tf.identity(loss), *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Delegates to the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Delegates to the other optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Applies the gradients, or counts them as stale.

        Args:
          grads_and_vars: pairs of gradient and variable.
          global_step: the variable of the global step, which the other optimizer increments.
          name: the name of the other optimizer's operation.

        Returns:
          The new number of dropped gradients, a scalar; computing it makes the step.

        Raises:
          ValueError: there is no global_step.
        """
        if global_step is None:
            raise ValueError(
                "DropStaleGradientOptimizer needs the global step: call minimize(loss, "
                "global_step=tf.compat.v1.train.get_global_step())."
            )
        pairs = list(grads_and_vars)
        counter = _v1.get_variable(
            "stale_counter", [], initializer=_v1.zeros_initializer(), trainable=False
        )

        def accept() -> tf.Tensor:
            applied = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
            with tf.control_dependencies([applied]):
                return tf.identity(0.0)

        computed = [part for gradient, _ in pairs if gradient is not None
                    for part in tf.nest.flatten(gradient, expand_composites=True)]  # fmt: skip
        with tf.control_dependencies(computed):
            behind = tf.reshape(global_step - self._local_step, [])
        is_fresh = tf.less_equal(behind, tf.cast(self._staleness, behind.dtype))
        dropped = _v1.cond(is_fresh, accept, lambda: tf.identity(1.0))
        count = _v1.assign_add(counter, dropped)
        steps = tf.cast(global_step + 1, tf.float32)
        _v1.summary.scalar("Gradient staleness percentage", counter / steps)
        return count
