"""Optimizers of models whose only weights are TPU embedding tables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

__all__ = ["optimizers_may_train_nothing"]

_v1 = tf.compat.v1


@contextlib.contextmanager
def optimizers_may_train_nothing(trains_tables: Any) -> Iterator[None]:
    """Lets ``minimize`` of TensorFlow's optimizers only count steps, where it would raise an error.

    On a TPU, the tables have their own optimizer. The model's finds no gradient for them.

    Args:
      trains_tables: a function that returns whether tables have got gradients.
    """
    usual = _v1.train.Optimizer.minimize

    def minimize(self, loss, global_step=None, *rest, **options):
        try:
            return usual(self, loss, global_step, *rest, **options)
        except ValueError as error:
            if not trains_tables() or "No gradients provided for any variable" not in str(error):
                raise
        name = options.get("name")
        return tf.no_op(name) if global_step is None else _v1.assign_add(global_step, 1, name=name)

    _v1.train.Optimizer.minimize = minimize
    try:
        yield
    finally:
        _v1.train.Optimizer.minimize = usual
