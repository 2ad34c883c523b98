"""Inputs of networks made of the feature columns of ``tf.contrib.layers``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.column_bases import Features, sparse_input
from estimator_bridge_contrib.layers.column_order import kind_of, sorted_columns
from estimator_bridge_contrib.layers.column_parsing import checked_columns
from estimator_bridge_contrib.layers.column_tables import embedded, scattered
from estimator_bridge_contrib.layers.column_types import (
    Bucketized,
    Crossed,
    Embedding,
    Numbers,
    OneHot,
    Scattered,
)
from estimator_bridge_contrib.layers.id_column_types import Weighted

__all__ = ["input_from_feature_columns", "sequence_input_from_feature_columns", "with_rank"]

v1 = tf.compat.v1


def input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, tf.Tensor] | None = None,
) -> tf.Tensor:
    """Returns the input of a network: the columns' vectors beside each other.

    Args:
      columns_to_tensors: the features by name; transformed columns may be among them.
      feature_columns: columns of numbers, buckets, one-hot vectors and embeddings. Their order
        does not matter.
      weight_collections: collections to add tables to.
      trainable: whether to train tables.
      scope: the variable scope; ``input_from_feature_columns`` with a number by default.
      cols_to_outs: a dict to which each column's vectors are added.

    Returns:
      A tensor [batch, sum of the columns' lengths].

    Raises:
      ValueError: a column has no vector, or a feature is missing.
    """
    return _inputs(
        columns_to_tensors, feature_columns, (weight_collections, trainable, scope), 2,
        "input_from_feature_columns", cols_to_outs,
    )  # fmt: skip


def sequence_input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """Returns the input of a recurrent network: the columns' vectors for each time step.

    Args:
      columns_to_tensors: the features by name, [batch, time, ...].
      feature_columns: columns of numbers, one-hot vectors and embeddings.
      weight_collections: collections to add tables to.
      trainable: whether to train tables.
      scope: the variable scope; ``sequence_input_from_feature_columns`` by default.

    Returns:
      A tensor [batch, time, sum of the columns' lengths].

    Raises:
      ValueError: a column is not for sequences.
    """
    feature_columns = checked_columns(feature_columns)
    for column in feature_columns:
        if not isinstance(column, (OneHot, Embedding, Numbers)):
            raise ValueError(
                f"FeatureColumn type {kind_of(column)} is not currently supported for "
                f"sequence data. Got the column {column.name!r}."
            )
    for column in _with_parents(feature_columns):
        if isinstance(column, (Bucketized, Crossed, Scattered)):
            raise ValueError(
                f"Column {column.name} is of type {kind_of(column)}, which is not currently "
                "supported for sequences."
            )
    return _inputs(
        columns_to_tensors, feature_columns, (weight_collections, trainable, scope), 3,
        "sequence_input_from_feature_columns", None,
    )  # fmt: skip


def _with_parents(columns: list[Any]) -> list[Any]:
    all_columns = list(columns)
    for column in all_columns:
        if isinstance(column, (Weighted, OneHot, Embedding)):
            all_columns.append(column.sparse_id_column)
        elif isinstance(column, Crossed):
            all_columns += column.columns
    return all_columns


def _inputs(
    tensors: dict[Any, Any],
    columns: Iterable[Any],
    options: tuple[Any, bool, Any],
    rank: int,
    default_name: str,
    outputs: dict[Any, tf.Tensor] | None,
) -> tf.Tensor:
    collections, trainable, scope = options
    columns = checked_columns(columns)
    if outputs is not None and not isinstance(outputs, dict):
        raise ValueError(f"cols_to_outs must be a dict unless None. Got {outputs!r}.")
    if collections:
        collections = list(dict.fromkeys([*collections, v1.GraphKeys.GLOBAL_VARIABLES]))
    tensors = dict(tensors)
    values = [value for value in tensors.values() if tf.is_tensor(value)]
    with v1.variable_scope(scope, default_name, values):
        features, parts = Features(tensors), []
        for column in sorted_columns(columns):
            with v1.variable_scope(None, column.name, values):
                parts.append(_vectors(column, features, rank, collections, trainable))
            if outputs is not None:
                outputs[column] = parts[-1]
        return tf.concat(parts, rank - 1)


def _vectors(column: Any, features: Features, rank: int, collections: Any, trainable: bool) -> Any:
    if isinstance(column, Numbers):
        return with_rank(features.get(column), rank, column.name)
    if isinstance(column, Scattered):
        with_sparse = sparse_input(features.get(column))
        return scattered(column, with_rank(with_sparse, rank, column.name), collections, trainable)
    if isinstance(column, Bucketized):
        hot = tf.one_hot(tf.cast(features.get(column), tf.int64), column.length, 1.0, 0.0)
        return tf.reshape(hot, [-1, column.length * column.source_column.dimension])
    if not isinstance(column, (OneHot, Embedding)):
        raise ValueError(
            f"Error creating input layer for column: {column.name}. It has no vectors. Use "
            "embedding_column or one_hot_column of it."
        )
    source = column if isinstance(column, Embedding) else column.sparse_id_column
    feature = features.get(source)
    pair = feature if isinstance(feature, tuple) else (feature, None)
    ids, weights = (None if part is None else with_rank(part, rank, column.name) for part in pair)
    if isinstance(column, OneHot):
        return column.vectors(ids, weights)
    return embedded(column, ids, weights, collections, trainable)


def with_rank(tensor: Any, rank: int, name: str) -> Any:
    """Returns a tensor with a rank: its last dimensions are merged, or one of 1 is added.

    Args:
      tensor: a tensor or SparseTensor.
      rank: the wanted rank.
      name: the column's name, for errors.

    Raises:
      ValueError: the rank is unknown, or more than one dimension is missing.
    """
    is_sparse = isinstance(tensor, tf.SparseTensor)
    input_rank = tensor.shape.rank
    if input_rank is None and is_sparse:
        input_rank = tensor.dense_shape.shape[0]
    if input_rank is None:
        if is_sparse or rank > 2:
            raise ValueError(
                f"Error while processing column {name}. Rank of input Tensor can not be None. Set "
                "its shape."
            )
        return tf.reshape(tensor, [tf.shape(tensor)[0], -1])
    if input_rank == rank:
        return tensor
    if input_rank < rank - 1:
        raise ValueError(
            f"Error while processing column {name}. Rank of input Tensor ({input_rank}) should be "
            f"the same as output_rank ({rank}). For example, sequence data should typically be 3 "
            "dimensional (rank 3) while non-sequence data is typically 2 dimensional (rank 2)."
        )
    if input_rank == rank - 1:
        return tf.sparse.expand_dims(tensor, -1) if is_sparse else tf.expand_dims(tensor, -1)
    if is_sparse:
        sizes = tensor.dense_shape
        merged = tf.concat([sizes[: rank - 1], [tf.reduce_prod(sizes[rank - 1 :])]], 0)
        return tf.sparse.reshape(tensor, merged)
    static, sizes = tensor.shape.as_list(), tf.shape(tensor)
    last = static[rank - 1 :]
    size = None if None in last else int(tf.TensorShape(last).num_elements())
    merged = tf.concat([sizes[: rank - 1], [-1 if size is None else size]], 0)
    flat = tf.reshape(tensor, merged)
    flat.set_shape([*static[: rank - 1], size])
    return flat
