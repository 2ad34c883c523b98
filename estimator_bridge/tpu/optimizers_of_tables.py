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

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=1, *rest, **options):
        names = ("aggregation_method", "colocate_gradients_with_ops", "name", "grad_loss")
        options = {**dict(zip(names, rest)), **options}
        name = options.pop("name", None)
        pairs = self.compute_gradients(loss, var_list, gate_gradients, **options)
        if any(gradient is not None for gradient, _ in pairs) or not trains_tables():
            return self.apply_gradients(pairs, global_step, name)
        return tf.no_op(name) if global_step is None else _v1.assign_add(global_step, 1, name=name)

    _v1.train.Optimizer.minimize = minimize
    try:
        yield
    finally:
        _v1.train.Optimizer.minimize = usual
