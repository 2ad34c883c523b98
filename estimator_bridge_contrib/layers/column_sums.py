"""Linear models of the feature columns of ``tf.contrib.layers``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.column_bases import Features
from estimator_bridge_contrib.layers.column_inputs import with_rank
from estimator_bridge_contrib.layers.column_order import sorted_columns
from estimator_bridge_contrib.layers.column_parsing import checked_columns
from estimator_bridge_contrib.layers.column_tables import restore_from_checkpoint
from estimator_bridge_contrib.layers.column_types import (
    Bucketized,
    Crossed,
    Embedding,
    Numbers,
)
from estimator_bridge_contrib.layers.embedding import safe_embedding_lookup_sparse
from estimator_bridge_contrib.layers.id_column_types import SparseColumn, Weighted
from estimator_bridge_contrib.model_variables import model_variable

__all__ = ["joint_weighted_sum_from_feature_columns", "weighted_sum_from_feature_columns"]

v1 = tf.compat.v1


def weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[tf.Tensor, dict[Any, list[Any]], Any]:
    """Returns a linear model: the sum of the columns' values, times their weights, and a bias.

    Args:
      columns_to_tensors: the features by name; transformed columns may be among them.
      feature_columns: sparse, weighted, crossed and bucketized columns, and those of numbers.
      num_outputs: the number of sums.
      weight_collections: collections to add weights to.
      trainable: whether to train weights.
      scope: the variable scope; ``weighted_sum_from_feature_columns`` with a number by default.

    Returns:
      The sums [batch, num_outputs]; by column, a list with its weights; the bias.

    Raises:
      ValueError: a column has no weights in a linear model, or a feature is missing.
    """
    columns = checked_columns(feature_columns)
    tensors = dict(columns_to_tensors)
    values = [value for value in tensors.values() if tf.is_tensor(value)]
    with v1.variable_scope(scope, "weighted_sum_from_feature_columns", values):
        features, sums, weights = Features(tensors), [], {}
        for column in sorted_columns(columns):
            pair = _ids(column, features)
            with v1.variable_scope(None, column.name, values):
                if pair is None:
                    weights[column], total = _product(
                        column, features, num_outputs, weight_collections, trainable
                    )
                else:
                    options = {"collections": weight_collections, "trainable": trainable}
                    shape = [_number_of_ids(column), num_outputs]
                    weights[column] = _weights("weights", shape, **options)
                    total = safe_embedding_lookup_sparse(
                        weights[column], pair[0], sparse_weights=pair[1],
                        combiner=getattr(column, "combiner", "sum"), name=f"{column.name}_weights",
                    )  # fmt: skip
            sums.append(tf.reshape(total, [-1, num_outputs]))
            restore_from_checkpoint(column, weights[column])
        bias = _bias(num_outputs, weight_collections, trainable)
        variables = {column: _parts(variable) for column, variable in weights.items()}
        return tf.nn.bias_add(tf.add_n(sums), bias), variables, bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[tf.Tensor, list[Any], Any]:
    """Like ``weighted_sum_from_feature_columns``, with all weights in one variable.

    Args:
      columns_to_tensors: the features by name; transformed columns may be among them.
      feature_columns: sparse, crossed and bucketized columns, whose combiner is 'sum'.
      num_outputs: the number of sums.
      weight_collections: collections to add weights to.
      trainable: whether to train weights.
      scope: the variable scope; ``joint_weighted_sum_from_feature_columns`` by default.

    Returns:
      The sums [batch, num_outputs]; a list with the weights; the bias.

    Raises:
      NotImplementedError: a column is one of numbers.
      AssertionError: a column has weights or another combiner, or there is no column.
    """
    columns = checked_columns(feature_columns)
    tensors = dict(columns_to_tensors)
    values = [value for value in tensors.values() if tf.is_tensor(value)]
    with v1.variable_scope(scope, "joint_weighted_sum_from_feature_columns", values):
        features, parts, rows = Features(tensors), [], 0
        for column in sorted_columns(columns):
            ids = _joint_ids(column, _ids(column, features))
            row_ids = ids.values + tf.cast(rows, ids.values.dtype)
            parts.append(tf.SparseTensor(ids.indices, tf.cast(row_ids, tf.int64), ids.dense_shape))
            rows += _number_of_ids(column)
        if not parts:
            raise AssertionError("At least one column must be in the model.")
        with v1.variable_scope(None, "linear_weights", values):
            weights = _weights(
                "weights", [rows, num_outputs], collections=weight_collections, trainable=trainable
            )
            total = safe_embedding_lookup_sparse(
                weights, tf.sparse.concat(1, parts), combiner="sum", name="_weights"
            )
        bias = _bias(num_outputs, weight_collections, trainable)
        return tf.nn.bias_add(total, bias), _parts(weights), bias


def _joint_ids(column: Any, pair: tuple[tf.SparseTensor, Any] | None) -> tf.SparseTensor:
    if pair is None:
        raise NotImplementedError(
            "Real-valued columns are not supported. Use weighted_sum_from_feature_columns "
            f"instead, or bucketize these columns. Got {column.name!r}."
        )
    if pair[1] is not None:
        raise AssertionError(
            "Joint sums for weighted sparse columns are not supported. Please use "
            f"weighted_sum_from_feature_columns instead. Got {column.name!r}."
        )
    if getattr(column, "combiner", "sum") != "sum":
        raise AssertionError(
            "Combiners other than sum are not supported for joint sums. Please use "
            f"weighted_sum_from_feature_columns instead. Got {column.combiner!r} of "
            f"{column.name!r}."
        )
    return pair[0]


def _ids(column: Any, features: Features) -> tuple[tf.SparseTensor, Any] | None:
    """Returns a column's ids and their weights; None for a column of numbers."""
    feature = features.get(column)
    if isinstance(column, Numbers):
        return None
    if isinstance(column, Bucketized):
        return column.sparse_ids(feature), None
    if isinstance(column, Embedding):
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}. It is not supported in linear "
            "models. Please use sparse_column."
        )
    if not isinstance(column, (SparseColumn, Weighted, Crossed)):
        raise ValueError(
            f"Error creating weighted sum for column: {column.name}. It has no ids. Use its sparse "
            "column."
        )
    return feature if isinstance(column, Weighted) else (feature, None)


def _number_of_ids(column: Any) -> int:
    each = column.length
    return each * column.source_column.dimension if isinstance(column, Bucketized) else each


def _product(
    column: Any, features: Features, num_outputs: int, collections: Any, trainable: bool
) -> tuple[Any, tf.Tensor]:
    numbers = with_rank(features.get(column), 2, column.name)
    shape = [numbers.shape[1], num_outputs]
    weights = _weights("weight", shape, collections=collections, trainable=trainable)
    return weights, tf.matmul(numbers, weights, name="matmul")


def _weights(name: str, shape: Any, **options: Any) -> Any:
    return model_variable(
        name, shape, dtype=tf.float32, initializer=v1.zeros_initializer(), **options
    )


def _bias(num_outputs: int, collections: Any, trainable: bool) -> Any:
    if collections:
        collections = list(dict.fromkeys([*collections, v1.GraphKeys.GLOBAL_VARIABLES]))
    return _weights("bias_weight", [num_outputs], collections=collections, trainable=trainable)


def _parts(variable: Any) -> list[Any]:
    """Returns a variable's parts, in a list."""
    return [variable] if isinstance(variable, tf.Variable) else list(variable)
