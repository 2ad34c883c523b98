"""A batch as SDCA takes it: which example has which features, and the weights of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.canned.columns import is_categorical
from estimator_bridge.canned.linear_network import LinearModel, expanded

__all__ = ["Examples", "SparseFeatures", "examples_of"]


class SparseFeatures(NamedTuple):
    """The ids of one column.

    Attributes:
      rows: the example of each entry, int64.
      ids: int64; an example has none twice.
      values: float32.
      parts: the variables that together are the column's weights, by consecutive rows.
    """

    rows: tf.Tensor
    ids: tf.Tensor
    values: tf.Tensor
    parts: list[Any]


class DenseFeatures(NamedTuple):
    """The numbers of one column, float32 [batch, n], and the variables that are its weights."""

    values: tf.Tensor
    parts: list[Any]


class Examples(NamedTuple):
    """A batch: the columns by name, the bias last of the dense ones."""

    sparse: list[SparseFeatures]
    dense: list[DenseFeatures]


def examples_of(
    features: Mapping[str, Any], columns: Iterable[Any], model: LinearModel, batch: tf.Tensor
) -> Examples:
    """Reads a batch by its columns.

    Args:
      features: by key.
      columns: those of the model.
      model: has the weights.
      batch: how many examples there are, a scalar.

    Raises:
      ValueError: a dense column has more dimensions than one.
    """
    cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
    sparse, dense = [], []
    for column in sorted(columns, key=lambda column: column.name):
        parts = expanded([model.state.get_variable(column, "weights")])
        if is_categorical(column):
            found = column.get_sparse_tensors(cache, model.state)
            rows, ids, values = _unique(found.id_tensor, found.weight_tensor)
            sparse.append(SparseFeatures(rows, ids, values, parts))
            continue
        if column.variable_shape.ndims != 1:
            raise ValueError(
                f"Column {type(column).__name__} has rank {column.variable_shape.ndims}, larger "
                f"than 1. LinearSDCA takes columns of numbers in a row; {column.name!r} has "
                f"{column.variable_shape}."
            )
        dense.append(DenseFeatures(column.get_dense_tensor(cache, model.state), parts))
    dense.append(DenseFeatures(tf.ones([batch, 1]), expanded([model.bias])))
    return Examples(sparse, dense)


def _unique(
    ids: tf.SparseTensor, weights: tf.SparseTensor | None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Rows, ids and values, an example's values of one id added up; none of ids below zero."""
    is_known = ids.values >= 0  # a vocabulary has -1 for words that it has not
    rows = tf.boolean_mask(ids.indices[:, 0], is_known)
    known = tf.boolean_mask(tf.cast(ids.values, tf.int64), is_known)
    count = tf.shape(ids.values)[:1]
    values = tf.ones(count) if weights is None else tf.cast(weights.values, tf.float32)
    width = tf.reduce_max(known) + 1
    pairs, places = tf.unique(rows * width + known)
    sums = tf.math.unsorted_segment_sum(
        tf.boolean_mask(values, is_known), places, tf.shape(pairs)[0]
    )
    return pairs // width, pairs % width, sums
