"""``tf.contrib.layers``' columns of vectors that are trained: embeddings, shared and scattered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.column_bases import check_checkpoint
from estimator_bridge_contrib.layers.column_types import Embedding, Scattered
from estimator_bridge_contrib.layers.id_column_types import SparseColumn, Weighted

__all__ = ["embedding_column", "scattered_embedding_column", "shared_embedding_columns"]


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Makes a column of table rows for a sparse column's values.

    Args:
      sparse_id_column: the column.
      dimension: a row's length.
      combiner: the combination of the rows of several values: 'mean', 'sqrtn' or 'sum'.
      initializer: initializer of the table; by default truncated normal, with the deviation
        ``1 / sqrt(number of rows)``.
      ckpt_to_load_from: a checkpoint with the table's initial values.
      tensor_name_in_ckpt: the table's name there.
      max_norm: the maximal length; longer rows are scaled down.
      trainable: whether the table is trained.
    """
    options = (combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    return _embedding(sparse_id_column, dimension, *options)


def _embedding(
    column: Any, dimension: int, combiner: str, initializer: Any, path: str | None,
    name: str | None, max_norm: float | None, trainable: bool, shared: str | None = None,
    rows: int | None = None,
) -> Any:  # fmt: skip
    if initializer is not None and not callable(initializer):
        raise ValueError(
            "initializer must be callable if specified. Embedding of column_name: "
            f"{column.name}. Got {initializer!r}."
        )
    check_checkpoint(path, name)
    if initializer is None:
        deviation = 1 / math.sqrt(column.length)
        initializer = tf.compat.v1.truncated_normal_initializer(mean=0.0, stddev=deviation)
    fields = (column, dimension, combiner, initializer, path, name, max_norm, trainable)
    return Embedding._make_with(*fields, shared_embedding_name=shared, shared_vocab_size=rows)


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Sequence[Any]:
    """Makes columns of rows of one table, for sparse columns with the same ids.

    Args:
      sparse_id_columns: sparse columns, which may be weighted.
      dimension: a row's length.
      combiner: as for ``embedding_column``.
      shared_embedding_name: the table's name; by default made of the columns' names.
      initializer: as for ``embedding_column``.
      ckpt_to_load_from: as for ``embedding_column``.
      tensor_name_in_ckpt: as for ``embedding_column``.
      max_norm: as for ``embedding_column``.
      trainable: as for ``embedding_column``.

    Returns:
      The columns, in the same order.

    Raises:
      TypeError: the columns are no sequence, or one cannot be embedded.
      ValueError: there are no columns, or they have different ids.
    """
    columns = sparse_id_columns
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(columns)}."
        )
    if not columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in columns:
        if not isinstance(column, (SparseColumn, Weighted)):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but "
                f"{column} is not."
            )
    options = (combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    if len(columns) == 1:
        return [_embedding(columns[0], dimension, *options, shared=shared_embedding_name)]
    if not all(columns[0].is_compatible(column) for column in columns[1:]):
        names = ", ".join(column.name for column in columns)
        raise ValueError(
            f"The input sparse id columns are not compatible: {names} have different ids."
        )
    name = shared_embedding_name or _shared_name(columns)
    rows = columns[0].length
    return tuple(_embedding(c, dimension, *options, shared=name, rows=rows) for c in columns)


def _shared_name(columns: Sequence[Any]) -> str:
    """Returns a table's name: the first columns' names, those without weights first."""
    names = [
        column.name for column in sorted(columns, key=lambda c: (isinstance(c, Weighted), c.name))
    ]
    others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return f"{'_'.join(names[:3])}{others}_shared_embedding"


def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int,
    combiner: str = "mean",
    initializer: Any = None,
) -> Any:
    """Makes a column of vectors of words, whose entries all words share.

    Args:
      column_name: the feature's key.
      size: the number of entries.
      dimension: a vector's length.
      hash_key: the key of the hash that finds an entry by a word and a position.
      combiner: the combination of several vectors: 'mean', 'sqrtn' or 'sum'.
      initializer: initializer of the entries; by default truncated normal with deviation 0.1.

    Raises:
      ValueError: a number is not positive, or the combiner or the initializer is none.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, "
            f"column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, "
            f"column_name: {column_name}"
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. column_name: {column_name}. "
            f"Got {initializer!r}."
        )
    initializer = initializer or tf.compat.v1.truncated_normal_initializer(mean=0.0, stddev=0.1)
    return Scattered(column_name, size, dimension, hash_key, combiner, initializer)
