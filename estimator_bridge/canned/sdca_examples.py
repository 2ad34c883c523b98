"""The input of SDCA: a batch's features by example, and their weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.canned.columns import is_categorical
from estimator_bridge.canned.linear_network import LinearModel, expanded

__all__ = ["Examples", "SparseFeatures", "examples_of", "unique_ids"]


class SparseFeatures(NamedTuple):
    """The IDs of one column.

    Attributes:
      rows: the example of each entry, int64.
      ids: int64; unique within an example.
      values: float32.
      parts: the variables of the column's weights, partitioned by consecutive rows.
    """

    rows: tf.Tensor
    ids: tf.Tensor
    values: tf.Tensor
    parts: list[Any]


class DenseFeatures(NamedTuple):
    """The numbers of one column, float32 [batch, n], and the variables of its weights."""

    values: tf.Tensor
    parts: list[Any]


class Examples(NamedTuple):
    """A batch: the columns in the order of their names, with the bias as the last dense one."""

    sparse: list[SparseFeatures]
    dense: list[DenseFeatures]


def examples_of(
    features: Mapping[str, Any], columns: Iterable[Any], model: LinearModel, batch: tf.Tensor
) -> Examples:
    """Reads a batch by its columns.

    Args:
      features: the features by key.
      columns: the model's columns.
      model: the model with the weights.
      batch: the number of examples, a scalar.

    Raises:
      ValueError: a dense column has more than one dimension.
    """
    cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
    sparse, dense = [], []
    for column in sorted(columns, key=lambda column: column.name):
        parts = expanded([model.state.get_variable(column, "weights")])
        if is_categorical(column):
            entries = column.get_sparse_tensors(cache, model.state)
            rows, ids, values = unique_ids(entries.id_tensor, entries.weight_tensor)
            sparse.append(SparseFeatures(rows, ids, values, parts))
            continue
        if column.variable_shape.ndims != 1:
            raise ValueError(
                f"Column {type(column).__name__} has rank {column.variable_shape.ndims}, larger "
                f"than 1. LinearSDCA supports one-dimensional columns; {column.name!r} has "
                f"{column.variable_shape}."
            )
        dense.append(DenseFeatures(column.get_dense_tensor(cache, model.state), parts))
    dense.append(DenseFeatures(tf.ones([batch, 1]), expanded([model.bias])))
    return Examples(sparse, dense)


def unique_ids(
    ids: tf.SparseTensor, weights: tf.SparseTensor | None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns a column's entries with the values of equal IDs of an example summed.

    Args:
      ids: the IDs of each example; negative ones, of unknown words, are dropped.
      weights: their values; 1 by default.

    Returns:
      The examples' numbers, int64; the IDs, int64; the values, float32.
    """
    is_valid = ids.values >= 0  # a vocabulary maps unknown words to -1
    rows = tf.boolean_mask(ids.indices[:, 0], is_valid)
    valid_ids = tf.boolean_mask(tf.cast(ids.values, tf.int64), is_valid)
    count = tf.shape(ids.values)[:1]
    values = tf.ones(count) if weights is None else tf.cast(weights.values, tf.float32)
    width = tf.reduce_max(valid_ids) + 1
    pairs, places = tf.unique(rows * width + valid_ids)
    sums = tf.math.unsorted_segment_sum(
        tf.boolean_mask(values, is_valid), places, tf.shape(pairs)[0]
    )
    return pairs // width, pairs % width, sums
