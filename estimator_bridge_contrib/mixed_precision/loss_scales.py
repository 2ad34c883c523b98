"""Factors of the loss, so that gradients in float16 do not vanish."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]

_v1 = tf.compat.v1


class LossScaleManager(abc.ABC):
    """The base of the classes that choose a loss scale."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """Returns the loss scale, a scalar of float32."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Returns the operation after a step.

        Args:
          finite_grads: whether all gradients of the step were finite, a scalar.
        """


class FixedLossScaleManager(LossScaleManager):
    """A loss scale that never changes.

    Args:
      loss_scale: a number, at least 1.

    Raises:
      ValueError: loss_scale is below 1.
    """

    def __init__(self, loss_scale: float):
        if loss_scale < 1:
            raise ValueError(f"loss scale must be at least 1. Got {loss_scale}.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, tf.float32)

    def get_loss_scale(self) -> tf.Tensor:
        """See the base class."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """See the base class."""
        del finite_grads
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A loss scale that grows while gradients are finite, and shrinks when they are not.

    Its variables are loss_scale, good_steps and bad_steps. It does not shrink below 1, nor grow
    beyond float32. Both counts start anew after each change.

    Args:
      init_loss_scale: the scale to begin with.
      incr_every_n_steps: after how many finite steps in succession it grows.
      decr_every_n_nan_or_inf: after how many other steps, in total, it shrinks.
      incr_ratio: what it is multiplied by when it grows.
      decr_ratio: what it is multiplied by when it shrinks.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = _v1.Variable(
            tf.convert_to_tensor(init_loss_scale, tf.float32), trainable=False, name="loss_scale"
        )
        self._num_good_steps = _v1.Variable(0, trainable=False, dtype=tf.int32, name="good_steps")
        self._num_bad_steps = _v1.Variable(0, trainable=False, dtype=tf.int32, name="bad_steps")

    def get_loss_scale(self) -> Any:
        """See the base class."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """See the base class."""
        return _v1.cond(finite_grads, self._count_finite, self._count_other)

    def _count_finite(self) -> Any:
        def grow() -> Any:
            larger = self._loss_scale * self._incr_ratio
            fits = tf.math.is_finite(larger)
            return self._change_to(tf.where(fits, larger, tf.identity(self._loss_scale)))

        def count() -> Any:
            return tf.group(_v1.assign_add(self._num_good_steps, 1))

        return _v1.cond(self._num_good_steps + 1 >= self._incr_every_n_steps, grow, count)

    def _count_other(self) -> Any:
        def shrink() -> Any:
            return self._change_to(tf.maximum(1.0, self._loss_scale * self._decr_ratio))

        def count() -> Any:
            return tf.group(
                _v1.assign_add(self._num_bad_steps, 1), _v1.assign(self._num_good_steps, 0)
            )

        return _v1.cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, count)

    def _change_to(self, scale: Any) -> Any:
        return tf.group(
            _v1.assign(self._loss_scale, scale),
            _v1.assign(self._num_good_steps, 0),
            _v1.assign(self._num_bad_steps, 0),
        )
