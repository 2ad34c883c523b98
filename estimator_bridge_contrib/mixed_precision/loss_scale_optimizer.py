"""An optimizer around another one, which multiplies the loss and divides the gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.mixed_precision.loss_scales import LossScaleManager

__all__ = ["LossScaleOptimizer"]

_v1 = tf.compat.v1
_Optimizer: Any = _v1.train.Optimizer


class LossScaleOptimizer(_Optimizer):
    """Scales the loss, so that small gradients are not lost in float16.

    The gradients are divided by the scale before they are applied; a step with a gradient that is
    not finite changes no variable. See Micikevicius et al., https://arxiv.org/abs/1710.03740.

    Args:
      opt: the optimizer that computes and applies gradients.
      loss_scale_manager: chooses the scale.
    """

    def __init__(self, opt: Any, loss_scale_manager: LossScaleManager):
        self._opt, self._loss_scale_manager = opt, loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = _Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Returns pairs of a gradient, divided by the scale again, and its variable.

        Args:
          loss: a tensor; with eager execution, a function that returns one.
          var_list: the variables; by default the trainable ones.
          gate_gradients: see ``tf.compat.v1.train.Optimizer``.
          aggregation_method: see ``tf.compat.v1.train.Optimizer``.
          colocate_gradients_with_ops: see ``tf.compat.v1.train.Optimizer``.
          grad_loss: the gradient of the loss.
        """
        scale = self._loss_scale_manager.get_loss_scale()

        def scaled() -> Any:
            value = loss() if callable(loss) else loss
            return value * tf.cast(scale, value.dtype.base_dtype)

        pairs = self._opt.compute_gradients(
            scaled if tf.executing_eagerly() else scaled(),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        inverse = tf.math.reciprocal(tf.convert_to_tensor(scale))
        return [
            (None if gradient is None else _times(gradient, inverse), variable)
            for gradient, variable in pairs
        ]

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None
    ) -> Any:
        """Returns the operation that applies gradients, if all are finite, and updates the scale.

        Args:
          grads_and_vars: the pairs of ``compute_gradients``.
          global_step: is counted up by a step that changes variables.
          name: the operation's name.
        """
        pairs = list(grads_and_vars)
        finite = [
            tf.reduce_all(tf.math.is_finite(_values(gradient)))
            for gradient, _ in pairs
            if gradient is not None
        ]
        all_finite = tf.reduce_all(finite)

        def apply() -> Any:
            return tf.group(self._opt.apply_gradients(pairs, global_step, name))

        applied = _v1.cond(all_finite, apply, tf.no_op)
        return tf.group(applied, self._loss_scale_manager.update_loss_scale(all_finite))


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _times(gradient: Any, factor: tf.Tensor) -> Any:
    product = _values(gradient) * tf.cast(factor, gradient.dtype.base_dtype)
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(product, gradient.indices, gradient.dense_shape)
    return product
