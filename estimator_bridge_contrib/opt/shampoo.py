"""Shampoo: gradients multiplied by roots of sums of their own products, along each dimension.

Gupta, Koren, Singer, "Shampoo: Preconditioned Stochastic Tensor Optimization" (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.opt.matrix_roots import inverse_root, power_by_svd
from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates, factor

__all__ = ["ShampooOptimizer"]

_v1 = tf.compat.v1


@dataclass(frozen=True)
class _Average:
    """A moving sum: ``decay`` times the old value plus ``weight`` times the new one."""

    decay: float
    weight: float

    def add(self, old: Any, new: Any, times: int = 1) -> tf.Tensor:
        """Returns the sum after a value, which counts several times."""
        return factor(self.decay, old) * old + factor(self.weight * times, old) * new


@dataclass(frozen=True)
class _Roots:
    """The powers of matrices by which gradients are multiplied."""

    epsilon: float
    alpha: float
    is_iterative: bool

    def of_matrix(self, matrix: Any, rank: int) -> tf.Tensor:
        """Returns a matrix to the power -alpha / rank."""
        root = rank / self.alpha
        if self.is_iterative and root == int(root):
            return inverse_root(matrix, int(root), self.epsilon)
        return power_by_svd(matrix, -1.0 / root, self.epsilon)

    def of_diagonal(self, values: Any, rank: int) -> tf.Tensor:
        """Returns values to the power -alpha / rank; zeros stay."""
        positive = values > 0
        safe = tf.where(positive, values, tf.ones_like(values))
        return tf.where(positive, tf.pow(safe, -self.alpha / rank), tf.zeros_like(values))


class ShampooOptimizer(RefOrResourceUpdates, tf.compat.v1.train.Optimizer):
    """Preconditions a gradient with one matrix per dimension: G_i ** (-alpha / dimensions).

    G_i is the sum over the steps of the gradient's products with itself along dimension i, divided
    by the dimension's size. Of a dimension larger than ``max_matrix_size``, only the matrix's
    diagonal is kept.

    Args:
      global_step: the global step, before its increment; the intervals count by it.
      max_matrix_size: the largest dimension with a matrix.
      gbar_decay: the momentum; 0 for none.
      gbar_weight: the factor of a gradient.
      mat_gbar_decay: the factor of a sum of products in each of its updates.
      mat_gbar_weight: the factor of a product.
      learning_rate: the learning rate: a number, a scalar tensor or a function that returns one.
      svd_interval: the number of steps between computations of roots.
      precond_update_interval: the number of steps between updates of the matrices.
      epsilon: added to the diagonals of matrices before their roots.
      alpha: the sum of the roots' exponents, without the sign.
      use_iterative_root: whether to compute roots by Newton's method. An SVD is used otherwise, and
        if dimensions / alpha is no integer.
      use_locking: has no effect: one process updates the variables.
      name: the operations' name.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: float = 0.0,
        gbar_weight: float = 1.0,
        mat_gbar_decay: float = 1.0,
        mat_gbar_weight: float = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: int = 1,
        precond_update_interval: int = 1,
        epsilon: float = 1e-4,
        alpha: float = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ):
        super().__init__(use_locking, name)
        self._global_step, self._learning_rate = global_step, learning_rate
        self._largest = max_matrix_size
        self._gradients = _Average(gbar_decay, gbar_weight)
        self._products = _Average(mat_gbar_decay, mat_gbar_weight)
        self._roots = _Roots(epsilon, alpha, use_iterative_root)
        self._root_interval, self._product_interval = svd_interval, precond_update_interval
        self._step_number: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            self._zeros_slot(var, "gbar", self._name)
            for axis, size in enumerate(var.shape.as_list()):
                shape = [size, size] if size <= self._largest else [size]
                if size <= self._largest and self._root_interval > 1:
                    self._get_or_make_slot(var, tf.eye(size, dtype=dtype), f"H_{axis}", self._name)
                zeros = tf.zeros(shape, dtype)
                self._get_or_make_slot(var, zeros, f"Gbar_{axis}", self._name)

    def _prepare(self) -> None:
        self._step_number = tf.cast(tf.identity(self._global_step), tf.float32) + 1

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        changes_all_rows = self._gradients.decay != 0 or self._products.decay != 1
        if changes_all_rows or var.shape.as_list()[0] <= self._largest:
            shape = tf.cast(tf.shape(var), indices.dtype)
            return self._update(tf.scatter_nd(indices[:, None], grad, shape), var)
        return self._update(grad, var, indices)

    def _update(self, grad: tf.Tensor, var: Any, indices: Any = None) -> Any:
        updates, change = [], factor(self._gradients.weight, var) * grad
        if self._gradients.decay != 0:
            slot = self.get_slot(var, "gbar")
            change = self._gradients.add(slot, grad)
            updates.append(_v1.assign(slot, change))
        sizes = var.shape.as_list()
        for axis, size in enumerate(sizes):
            if size > self._largest:
                rows = indices if axis == 0 else None
                products = self._add_squares(grad, var, axis, rows)
                root = self._roots.of_diagonal(_rows(products, rows), len(sizes))
                # The first dimension becomes the last one, so after all of them the order is back.
                change = tf.transpose(change, [*range(1, len(sizes)), 0]) * root
            else:
                products = self._add_products(grad, var, axis)
                root = self._root(products / size, var, axis, len(sizes))
                change = tf.tensordot(change, root, [[0], [0]])
                updates.append(root)
            updates.append(products)
        rate = self._learning_rate
        change *= factor(rate() if callable(rate) else rate, var)
        update = (
            _v1.assign_sub(var, change)
            if indices is None
            else _v1.scatter_sub(var, indices, change)
        )
        return tf.group(update, *updates)

    def _add_squares(self, grad: tf.Tensor, var: Any, axis: int, rows: Any) -> Any:
        """Updates a matrix's diagonal, and returns it."""
        slot, rank = self.get_slot(var, f"Gbar_{axis}"), len(var.shape)
        squares = tf.square(grad)
        if rank > 1:
            others = [other for other in range(rank) if other != axis]
            squares = tf.reduce_sum(squares, others)
        if rows is not None:  # the original divides by the number of rows only if all are there
            return _v1.scatter_add(slot, rows, factor(self._products.weight, var) * squares)
        size = var.shape.as_list()[axis] if rank > 1 else 1
        return _v1.assign(slot, self._products.add(slot, squares / size))

    def _add_products(self, grad: tf.Tensor, var: Any, axis: int) -> Any:
        """Updates a matrix if it is due, and returns it."""
        slot = self.get_slot(var, f"Gbar_{axis}")
        others = [other for other in range(len(var.shape)) if other != axis]

        def add() -> tf.Tensor:
            products = tf.tensordot(grad, grad, [others, others])
            return self._products.add(slot, products, self._product_interval)

        due = self._is_due(self._product_interval)
        return _v1.assign(slot, _v1.cond(due, add, lambda: tf.identity(slot)))

    def _root(self, matrix: Any, var: Any, axis: int, rank: int) -> Any:
        """Returns a matrix's root, as of the last step in which it was due."""
        if self._root_interval <= 1:
            return self._roots.of_matrix(matrix, rank)
        slot = self.get_slot(var, f"H_{axis}")
        due = self._is_due(self._root_interval)
        root = _v1.cond(due, lambda: self._roots.of_matrix(matrix, rank), lambda: tf.identity(slot))
        return _v1.assign(slot, root)

    def _is_due(self, interval: int) -> tf.Tensor:
        return tf.math.floormod(self._step_number, interval) < 1


def _rows(values: Any, rows: Any) -> Any:
    return values if rows is None else tf.gather(values, rows)
