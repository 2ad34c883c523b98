"""tf_keras optimizers in a v1 graph, with the methods of a ``tf.compat.v1.train.Optimizer``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.keras import keras_optimizer_name

__all__ = ["KerasOptimizer", "as_graph_optimizer"]


def as_graph_optimizer(optimizer: Any) -> tf.compat.v1.train.Optimizer:
    """Gives any optimizer the methods of a v1 optimizer.

    Args:
      optimizer: a v1 or a tf_keras optimizer, legacy or new.

    Returns:
      `optimizer`; a tf_keras one is wrapped.

    Raises:
      TypeError: it is not an optimizer, or it is one of Keras 3.
    """
    if isinstance(optimizer, tf.compat.v1.train.Optimizer):
        return optimizer
    return KerasOptimizer(optimizer)


class KerasOptimizer(tf.compat.v1.train.Optimizer):
    """A tf_keras optimizer as a v1 one; its count of iterations is the global step.

    Args:
      optimizer: from ``tf_keras.optimizers`` or ``tf_keras.optimizers.legacy``, made in the graph
        where it is used.

    Raises:
      TypeError: it is neither.
    """

    def __init__(self, optimizer: Any):
        import tf_keras

        self._is_legacy = isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer)
        if not (self._is_legacy or isinstance(optimizer, tf_keras.optimizers.Optimizer)):
            raise TypeError(
                "An optimizer must be a tf.compat.v1.train.Optimizer or a tf_keras optimizer "
                f"(Keras 3 has no graph mode), got {type(optimizer).__module__}."
                f"{type(optimizer).__qualname__}: {optimizer!r}. For example "
                "tf.compat.v1.train.AdamOptimizer(1e-3) or tf_keras.optimizers.Adam(1e-3)."
            )
        super().__init__(use_locking=False, name=keras_optimizer_name(optimizer))
        self._keras = optimizer
        self._step: tf.Variable | None = None

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, tf.Variable]],
        global_step: tf.Variable | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies gradients; see ``tf.compat.v1.train.Optimizer``.

        Args:
          grads_and_vars: (gradient, variable) pairs.
          global_step: the optimizer's count of iterations, incremented afterwards.
          name: name of the operation.

        Returns:
          The update operation.
        """
        pairs = [(gradient, var) for gradient, var in grads_and_vars if gradient is not None]
        if global_step is not None and global_step is not self._step:
            # Not read first: a legacy optimizer creates its own variable on access.
            self._keras.iterations = self._step = global_step
        if self._is_legacy:
            return self._keras.apply_gradients(pairs, name=name)
        self._keras.build([var for _, var in pairs])
        return self._apply_in_function(pairs, name)

    def variables(self) -> list[tf.Variable]:
        """Returns the optimizer's variables."""
        variables = self._keras.variables
        return list(variables() if callable(variables) else variables)

    def get_slot(self, var: tf.Variable, name: str) -> tf.Variable | None:
        """Returns a slot of a legacy optimizer; new optimizers have no named slots."""
        return self._keras.get_slot(var, name) if self._is_legacy else None

    def get_slot_names(self) -> list[str]:
        """Returns the names of a legacy optimizer's slots."""
        return self._keras.get_slot_names() if self._is_legacy else []

    def _apply_in_function(self, pairs: list[tuple[Any, tf.Variable]], name: str | None) -> Any:
        # New optimizers rely on a function's automatic ordering, and return no operations.
        variables = [var for _, var in pairs]

        @tf.function(autograph=False)
        def apply(gradients: list[Any]) -> tf.Tensor:
            self._keras.apply_gradients(zip(gradients, variables))
            return tf.identity(self._keras.iterations)

        return tf.group(apply([gradient for gradient, _ in pairs]), name=name)
