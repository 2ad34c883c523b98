"""Adagrad (Duchi, Hazan, Singer 2011) with steps that do not change its accumulators."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates, factor

__all__ = ["RegAdagradOptimizer"]

_v1 = tf.compat.v1


class RegAdagradOptimizer(RefOrResourceUpdates, tf.compat.v1.train.AdagradOptimizer):
    """Adagrad whose accumulators can be frozen, for the step of a regularizer.

    Args:
      learning_rate: see tf.train.AdagradOptimizer.
      initial_accumulator_value: see tf.train.AdagradOptimizer.
      use_locking: see tf.train.AdagradOptimizer.
      name: see tf.train.AdagradOptimizer.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._updates_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Makes ``apply_gradients`` leave the accumulators unchanged inside."""
        before, self._updates_slots = self._updates_slots, False
        try:
            yield
        finally:
            self._updates_slots = before

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        slot, rate = self.get_slot(var, "accumulator"), self._rate(var)
        if not self._updates_slots:
            return _v1.assign_sub(var, rate * grad * tf.math.rsqrt(slot))
        squares = slot + tf.square(grad)
        change = rate * grad * tf.math.rsqrt(squares)
        return tf.group(_v1.assign(slot, squares), _v1.assign_sub(var, change))

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        slot, rate = self.get_slot(var, "accumulator"), self._rate(var)
        squares = tf.gather(slot, indices)
        updates = []
        if self._updates_slots:
            squares += tf.square(grad)
            updates = [_v1.scatter_update(slot, indices, squares)]
        change = rate * grad * tf.math.rsqrt(squares)
        return tf.group(*updates, _v1.scatter_sub(var, indices, change))

    def _rate(self, var: Any) -> tf.Tensor:
        return factor(self._learning_rate_tensor, var)
