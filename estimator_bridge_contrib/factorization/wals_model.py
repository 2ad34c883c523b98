"""WALSModel: factors of a sparse matrix, by weighted alternating least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.factorization.wals_axes import (
    Axis,
    assign_gramian,
    looked_up,
    make_axis,
    make_factors,
    make_weights,
    scatter,
)
from estimator_bridge_contrib.factorization.wals_solver import normal_equations, products_at

__all__ = [
    "WALSModel",
    "WALSUpdate",
]

_v1 = tf.compat.v1


class WALSUpdate(NamedTuple):
    """The results of an update.

    Attributes:
      new_values: the new factors of the rows (columns) in the input.
      update_op: the operation that assigns them.
      unregularized_loss: the weighted squared error, scaled to all rows (columns).
      regularization: the regularization, scaled in the same way.
      sum_weights: the sum of the weights, scaled in the same way.
    """

    new_values: tf.Tensor
    update_op: tf.Operation
    unregularized_loss: tf.Tensor
    regularization: tf.Tensor
    sum_weights: tf.Tensor


class WALSModel:
    """Factors of a sparse matrix, whose product minimizes a weighted squared error.

    The weight of an entry is unobserved_weight where the matrix has no value, and otherwise
    unobserved_weight + row_weights[i] * col_weights[j]. Run `initialize_op` and `worker_init`
    first. A sweep over rows starts with `row_update_prep_gramian_op` and
    `initialize_row_update_op`, and runs the update of `update_row_factors` for parts of the rows;
    the same for columns.

    Args:
      input_rows: the number of rows.
      input_cols: the number of columns.
      n_components: the number of dimensions of the factors.
      unobserved_weight: see above.
      regularization: the factor of the squared norms of the factors, or None.
      row_init: the first factors of the rows: "random", an array, a list with one for each shard,
        or a function that returns one of these.
      col_init: the same for the columns.
      num_row_shards: the number of variables for the factors of the rows.
      num_col_shards: the same for the columns.
      row_weights: a number, a list of the weights of the rows, a list with a list for each shard,
        or None for no weights; then col_weights is None too.
      col_weights: the same for the columns.
      use_factors_weights_cache: whether updates use local copies of the factors and weights.
      use_gramian_cache: whether they use local copies of the Gramians.
      use_scoped_vars: whether the variables are in name scopes.

    Raises:
      ValueError: the weights or factors have a wrong form.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ):
        if (row_weights is None) != (col_weights is None):
            raise ValueError(
                "Give both row_weights and col_weights, or None for both. Got "
                f"{row_weights} and {col_weights}."
            )
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._dimensions = n_components
        parts = {
            "row": (input_rows, num_row_shards, row_weights, row_init),
            "col": (input_cols, num_col_shards, col_weights, col_init),
        }
        weights, factors, gramians = {}, {}, {}
        for name, (size, shards, initial_weights, _) in parts.items():
            with _scope(f"{name}_weights", use_scoped_vars):
                weights[name] = make_weights(initial_weights, size, shards, f"{name}_weights")
        for name, (size, shards, _, start) in parts.items():
            with _scope(f"{name}_factors", use_scoped_vars):
                variables = make_factors(start, size, n_components, shards, f"{name}_factors")
                factors[name] = variables
        for name in parts:
            gramians[name] = _v1.Variable(
                tf.zeros([n_components, n_components]), name=f"{name}_gramian"
            )
        with _v1.name_scope("transient_vars"):
            self._rows, self._columns = (
                make_axis(
                    name,
                    parts[name][0],
                    factors[name],
                    weights[name],
                    gramians[name],
                    use_factors_weights_cache,
                    use_gramian_cache,
                )
                for name in parts
            )
            self._worker_init = tf.group(
                self._rows.fill_weights, self._columns.fill_weights, name="worker_init"
            )
            self._row_init = tf.group(self._columns.fill, self._rows.empty)
            self._col_init = tf.group(self._rows.fill, self._columns.empty)
        with _v1.name_scope("row_prepare_gramian"):
            self._row_prep = self.prepare_row_update()
        with _v1.name_scope("col_prepare_gramian"):
            self._col_prep = self.prepare_col_update()

    @property
    def row_factors(self) -> list[Any]:
        """The variables of the rows' factors."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of the columns' factors."""
        return self._columns.factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The variables of the rows' weights."""
        return self._rows.weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The variables of the columns' weights."""
        return self._columns.weights

    @property
    def initialize_op(self) -> tf.Operation:
        """The operation that initializes the variables."""
        axes = (self._rows, self._columns)
        variables = [one for axis in axes for one in [*axis.factors, axis.gramian]]
        variables += [one for axis in axes for one in axis.weights or []]
        return _v1.variables_initializer(variables)

    @property
    def worker_init(self) -> tf.Operation:
        """The operation that copies the weights; run it once, after `initialize_op`."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> tf.Operation:
        """The operation that computes the columns' Gramian, before updates of rows."""
        return self._row_prep

    @property
    def col_update_prep_gramian_op(self) -> tf.Operation:
        """The operation that computes the rows' Gramian, before updates of columns."""
        return self._col_prep

    @property
    def initialize_row_update_op(self) -> tf.Operation:
        """The operation that copies the columns' factors, before updates of rows."""
        return self._row_init

    @property
    def initialize_col_update_op(self) -> tf.Operation:
        """The operation that copies the rows' factors, before updates of columns."""
        return self._col_init

    def prepare_row_update(self) -> tf.Operation:
        """Builds the operation of `row_update_prep_gramian_op` anew, for a branch of a tf.cond."""
        return assign_gramian(self._columns)

    def prepare_col_update(self) -> tf.Operation:
        """Builds the operation of `col_update_prep_gramian_op` anew, for a branch of a tf.cond."""
        return assign_gramian(self._rows)

    def update_row_factors(
        self, sp_input: tf.SparseTensor, transpose_input: bool = False
    ) -> WALSUpdate:
        """Solves for the factors of some rows.

        Args:
          sp_input: those rows of the matrix, with the matrix's indices.
          transpose_input: whether sp_input is transposed.

        Raises:
          TypeError: sp_input is not sparse.
        """
        return self._updated(self._rows, self._columns, sp_input, transpose_input, "row_update")

    def update_col_factors(
        self, sp_input: tf.SparseTensor, transpose_input: bool = False
    ) -> WALSUpdate:
        """Solves for the factors of some columns.

        Args:
          sp_input: those columns of the matrix, with the matrix's indices.
          transpose_input: whether sp_input is transposed.

        Raises:
          TypeError: sp_input is not sparse.
        """
        is_transposed = not transpose_input
        return self._updated(self._columns, self._rows, sp_input, is_transposed, "col_update")

    def project_row_factors(
        self,
        sp_input: tf.SparseTensor,
        transpose_input: bool = False,
        projection_weights: Any = None,
    ) -> tf.Tensor:
        """Returns the factors of rows, without assigning them.

        Args:
          sp_input: rows, whose indices need not be the matrix's.
          transpose_input: whether sp_input is transposed.
          projection_weights: the weights of the rows, a scalar or [rows]; by default 1.

        Raises:
          TypeError: sp_input is not sparse.
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._solved(self._rows, self._columns, sp_input, transpose_input, weights).values

    def project_col_factors(
        self,
        sp_input: tf.SparseTensor,
        transpose_input: bool = False,
        projection_weights: Any = None,
    ) -> tf.Tensor:
        """Returns the factors of columns, without assigning them.

        Args:
          sp_input: columns, whose indices need not be the matrix's.
          transpose_input: whether sp_input is transposed.
          projection_weights: the weights of the columns, a scalar or [columns]; by default 1.

        Raises:
          TypeError: sp_input is not sparse.
        """
        weights = 1 if projection_weights is None else projection_weights
        is_transposed = not transpose_input
        return self._solved(self._columns, self._rows, sp_input, is_transposed, weights).values

    def _updated(
        self, axis: Axis, other: Axis, sp_input: tf.SparseTensor, is_transposed: bool, name: str
    ) -> WALSUpdate:
        solved = self._solved(axis, other, sp_input, is_transposed, None)
        update_op = scatter(axis.factors, axis.size, solved.ids, solved.values, name)
        loss, regularization, weights = self._losses(axis, other, solved)
        return WALSUpdate(solved.values, update_op, loss, regularization, weights)

    def _solved(
        self, axis: Axis, other: Axis, sp_input: Any, is_transposed: bool, weights: Any
    ) -> _Solved:
        if not isinstance(sp_input, tf.SparseTensor):
            raise TypeError(f"sp_input must be a SparseTensor. Got {sp_input!r}.")
        rows, columns = sp_input.indices[:, 0], sp_input.indices[:, 1]
        if is_transposed:
            rows, columns = columns, rows
        ids, row_at = tf.unique(rows)
        other_ids, column_at = tf.unique(columns)
        entries = tf.SparseTensor(
            tf.cast(tf.stack([row_at, column_at], 1), tf.int64),
            sp_input.values,
            tf.cast(tf.stack([tf.size(ids), tf.size(other_ids)]), tf.int64),
        )
        factors = looked_up(other.cached_factors, other_ids)
        left = self._unobserved_weight * other.cached_gramian
        if self._regularization is not None:
            left += self._regularization * tf.eye(self._dimensions)
        if axis.cached_weights is None or other.cached_weights is None:
            right = self._unobserved_weight * tf.sparse.sparse_dense_matmul(entries, factors)
            values = tf.transpose(tf.linalg.solve(left, tf.transpose(right)))
            return _Solved(ids, entries, factors, values, None, None)
        if weights is None:
            row_weights = looked_up(axis.cached_weights, ids)
        else:
            row_weights = tf.ones([tf.size(ids)]) * tf.cast(weights, tf.float32)
        column_weights = looked_up(other.cached_weights, other_ids)
        of_entries, right = normal_equations(
            factors, column_weights, self._unobserved_weight, row_weights, entries
        )
        values = tf.linalg.solve(left + of_entries, tf.expand_dims(right, -1))
        values = tf.squeeze(values, [2])
        return _Solved(ids, entries, factors, values, row_weights, column_weights)

    def _losses(
        self, axis: Axis, other: Axis, solved: _Solved
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns the error, the regularization and the sum of weights, scaled to all rows."""
        entries = solved.entries
        scale = axis.size / tf.cast(tf.size(solved.ids), tf.float32)
        approximate = products_at(solved.values, solved.factors, entries.indices)
        squares = tf.square(entries.values - approximate)
        own = tf.matmul(solved.values, solved.values, transpose_a=True)
        gramian = other.cached_gramian
        loss = self._unobserved_weight * (
            tf.reduce_sum(squares)
            - tf.reduce_sum(tf.square(approximate))
            + tf.linalg.trace(tf.matmul(own, gramian))
        )
        sum_weights = tf.constant(self._unobserved_weight * (axis.size * other.size), tf.float32)
        if solved.row_weights is not None:
            weights = tf.gather(solved.row_weights, entries.indices[:, 0])
            weights *= tf.gather(solved.column_weights, entries.indices[:, 1])
            loss += tf.reduce_sum(weights * squares)
            sum_weights += tf.reduce_sum(weights) * scale
        regularization = tf.constant(0.0)
        if self._regularization is not None:
            traces = tf.linalg.trace(own) * scale + tf.linalg.trace(gramian)
            regularization = self._regularization * traces
        return loss * scale, regularization, sum_weights


class _Solved(NamedTuple):
    """The solution for some rows: their numbers, the entries, and what the loss needs."""

    ids: tf.Tensor
    entries: tf.SparseTensor
    factors: tf.Tensor
    values: tf.Tensor
    row_weights: tf.Tensor | None
    column_weights: tf.Tensor | None


def _scope(name: str, is_wanted: bool) -> Any:
    return _v1.name_scope(name if is_wanted else None)
