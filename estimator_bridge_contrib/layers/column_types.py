"""The columns of numbers, buckets, crosses and vectors of ``tf.contrib.layers``.

They are those of ``tf.feature_column`` with contrib's attributes, so they work with
``tf.compat.v1.feature_column.input_layer`` and ``linear_model`` too; `Scattered` does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import feature_columns as columns
from estimator_bridge_contrib.layers.column_bases import ContribColumn
from estimator_bridge_contrib.layers.column_hashes import crossed_ids
from estimator_bridge_contrib.layers.column_tables import embedded

__all__ = ["Bucketized", "Crossed", "Embedding", "Numbers", "OneHot", "Scattered"]

_Numeric: Any = columns.NumericColumn
_Bucketized: Any = columns.BucketizedColumn
_Crossed: Any = columns.CrossedColumn
_Indicator: Any = columns.IndicatorColumn
_Embedding: Any = columns.EmbeddingColumn


class Numbers(ContribColumn, _Numeric):
    """``real_valued_column``."""

    @property
    def column_name(self) -> str:
        """The feature's key."""
        return self.key

    @property
    def dimension(self) -> int:
        """The number of values per example."""
        return self.shape[0]

    @property
    def normalizer(self) -> Any:
        """A function of the numbers."""
        return self.normalizer_fn

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The spec for ``tf.io.parse_example``."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.key: tf.io.FixedLenFeature([self.dimension], self.dtype, default)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.Tensor:
        """Returns the numbers, normalized, as float32."""
        numbers = transformation_cache.get(self.key, state_manager)
        return tf.cast(numbers if self.normalizer is None else self.normalizer(numbers), tf.float32)


class Bucketized(ContribColumn, _Bucketized):
    """``bucketized_column``."""

    @property
    def length(self) -> int:
        """The number of ranges."""
        return len(self.boundaries) + 1

    def sparse_ids(self, buckets: tf.Tensor) -> tf.SparseTensor:
        """Returns the ids of a linear model: each dimension has its own ranges.

        Args:
          buckets: the transformed column [batch, dimension].
        """
        dimension = self.source_column.dimension
        batch = tf.shape(buckets)[0]
        rows = tf.repeat(tf.range(batch), dimension)
        columns = tf.tile(tf.range(dimension), [batch])
        ids = tf.reshape(buckets, [-1]) + self.length * columns
        indices = tf.cast(tf.stack([rows, columns], axis=1), tf.int64)
        return tf.SparseTensor(indices, ids, tf.cast(tf.stack([batch, dimension]), tf.int64))


class Crossed(ContribColumn, _Crossed):
    """``crossed_column``.

    Attributes:
      combiner: how a linear model adds up several values.
      ckpt_to_load_from: a checkpoint with a linear model's weights, or None.
      tensor_name_in_ckpt: their name there.
    """

    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None

    @property
    def columns(self) -> tuple[Any, ...]:
        """The crossed columns, by name."""
        return self.keys

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.hash_bucket_size

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The spec for ``tf.io.parse_example``."""
        spec: dict[str, Any] = {}
        for column in self.columns:
            spec.update(column.parse_example_spec)
        return spec

    def leaves(self) -> list[Any]:
        """Returns the columns that are crossed, those of crossed columns instead of these."""
        leaves: list[Any] = []
        for column in self.columns:
            leaves += column.leaves() if isinstance(column, Crossed) else [column]
        return leaves

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids of all combinations: of values, not of ids."""
        inputs = []
        for column in self.leaves():
            if isinstance(column, Bucketized):
                buckets = transformation_cache.get(column, state_manager)
                inputs.append(column.sparse_ids(buckets))
            else:
                inputs.append(transformation_cache.get(column.column_name, state_manager))
        return crossed_ids(inputs, self.hash_bucket_size, self.hash_key)


class OneHot(ContribColumn, _Indicator):
    """``one_hot_column``."""

    @property
    def sparse_id_column(self) -> Any:
        """The column of the ids."""
        return self.categorical_column

    @property
    def length(self) -> int:
        """The vectors' length."""
        return self.categorical_column.length

    @property
    def name(self) -> str:
        """The column's name, for scopes."""
        return f"{self.categorical_column.name}_one_hot"

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the vectors [batch, length]."""
        feature = transformation_cache.get(self.categorical_column, state_manager)
        ids, weights = feature if isinstance(feature, tuple) else (feature, None)
        return self.vectors(ids, weights)

    def vectors(self, ids: tf.SparseTensor, weights: tf.SparseTensor | None) -> tf.Tensor:
        """Returns the sum of the one-hot vectors of the last dimension's ids.

        Args:
          ids: ids [..., number]; -1 is a missing one.
          weights: the vectors' weights; 1 by default.
        """
        dense = tf.sparse.to_dense(ids, default_value=-1)
        hot = tf.one_hot(dense, self.length, 1.0, 0.0)
        if weights is not None:
            by_id = tf.SparseTensor(ids.indices, weights.values, ids.dense_shape)
            hot *= tf.expand_dims(tf.sparse.to_dense(by_id), -1)
        return tf.reduce_sum(hot, axis=-2)


class Embedding(ContribColumn, _Embedding):
    """``embedding_column``, and one of ``shared_embedding_columns``.

    Attributes:
      shared_embedding_name: the name of a shared table; None for an own one.
      shared_vocab_size: the shared table's number of rows.
    """

    shared_embedding_name: str | None
    shared_vocab_size: int | None

    @property
    def sparse_id_column(self) -> Any:
        """The column of the ids."""
        return self.categorical_column

    @property
    def length(self) -> int:
        """The number of rows."""
        return self.shared_vocab_size or self.categorical_column.length

    @property
    def name(self) -> str:
        """The column's name, for scopes."""
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.categorical_column.name}_{kind}"

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: bool = True
    ) -> tf.Tensor:
        """Returns the rows for ``tf.compat.v1.feature_column.input_layer``."""
        feature = inputs.get(self)
        ids, weights = feature if isinstance(feature, tuple) else (feature, None)
        return embedded(self, ids, weights, weight_collections, trainable is not False)

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Embedding:
        """Returns the column: it is immutable, and its initializer may not be copied."""
        return self


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int
    combiner: str
    initializer: Any


class Scattered(ContribColumn, _ScatteredFields):
    """``scattered_embedding_column``, for the functions of ``tf.contrib.layers`` alone."""

    @property
    def name(self) -> str:
        """The column's name, for scopes."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The spec for ``tf.io.parse_example``."""
        return {self.column_name: tf.io.VarLenFeature(tf.string)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the feature."""
        return transformation_cache.get(self.column_name, state_manager)
