"""The columns of ids and words of ``tf.contrib.layers``.

They are those of ``tf.feature_column`` with contrib's attributes, so they work with
``tf.compat.v1.feature_column.linear_model`` too.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import feature_columns as columns
from estimator_bridge_contrib.layers.column_bases import ContribColumn, LookupConfig, sparse_input

__all__ = ["Hashed", "Integerized", "Keys", "SparseColumn", "Vocabulary", "Weighted"]

_Hashed: Any = columns.HashedCategoricalColumn
_Identity: Any = columns.IdentityCategoricalColumn
_List: Any = columns.VocabularyListCategoricalColumn
_File: Any = columns.VocabularyFileCategoricalColumn
_Weighted: Any = columns.WeightedCategoricalColumn


class SparseColumn(ContribColumn):
    """A column of ids or words.

    Attributes:
      combiner: how a linear model adds up several values: 'sum', 'mean' or 'sqrtn'.
    """

    key: str
    dtype: Any
    combiner: str
    num_buckets: int
    is_integerized = False
    bucket_size: int | None = None
    lookup_config: LookupConfig | None = None

    @property
    def column_name(self) -> str:
        """The feature's key."""
        return self.key

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.num_buckets

    def is_compatible(self, other: Any) -> bool:
        """Returns whether another column's ids may be in the same table."""
        if self.lookup_config and other.lookup_config:
            return self.lookup_config == other.lookup_config
        same_type = self.dtype == other.dtype or (self.dtype.is_integer and other.dtype.is_integer)
        return self.length == other.length and same_type


class Integerized(SparseColumn, _Identity):
    """``sparse_column_with_integerized_feature``."""

    is_integerized = True

    @property
    def bucket_size(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.num_buckets

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """The spec for ``tf.io.parse_example``."""
        return {self.key: tf.io.VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the values, modulo the number of ids."""
        sparse = sparse_input(transformation_cache.get(self.key, state_manager))
        size = tf.cast(self.num_buckets, sparse.values.dtype)
        ids = tf.math.floormod(sparse.values, size, name="mod")
        return tf.SparseTensor(sparse.indices, ids, sparse.dense_shape)


class Hashed(SparseColumn, _Hashed):
    """``sparse_column_with_hash_bucket``.

    Attributes:
      hash_keys: pairs of keys for several hashes of each value; None for one.
    """

    hash_keys: list[list[int]] | None

    @property
    def bucket_size(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.num_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids; with several hash keys, those of each key beside each other."""
        sparse = sparse_input(transformation_cache.get(self.key, state_manager))
        words = tf.strings.as_string(sparse.values) if self.dtype.is_integer else sparse.values
        if not self.hash_keys:
            ids = tf.strings.to_hash_bucket_fast(words, self.num_buckets, name="lookup")
            return tf.SparseTensor(sparse.indices, ids, sparse.dense_shape)
        strong = [
            tf.strings.to_hash_bucket_strong(words, self.num_buckets, list(key))
            for key in self.hash_keys
        ]
        parts = [tf.SparseTensor(sparse.indices, ids, sparse.dense_shape) for ids in strong]
        return tf.sparse.concat(axis=1, sp_inputs=parts, name="lookup")


class Keys(SparseColumn, _List):
    """``sparse_column_with_keys``."""

    @property
    def lookup_config(self) -> LookupConfig:  # type: ignore[override]
        """The settings of the lookup of ids."""
        words = tuple(self.vocabulary_list)
        return LookupConfig(keys=words, vocab_size=len(words), default_value=self.default_value)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids of words."""
        sparse = sparse_input(transformation_cache.get(self.key, state_manager))
        return self._transform_input_tensor(sparse, state_manager)


class Vocabulary(SparseColumn, _File):
    """``sparse_column_with_vocabulary_file``."""

    @property
    def lookup_config(self) -> LookupConfig:  # type: ignore[override]
        """The settings of the lookup of ids."""
        return LookupConfig(
            self.vocabulary_file, None, self.num_oov_buckets, self.vocabulary_size,
            self.default_value,
        )  # fmt: skip

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids of words."""
        sparse = sparse_input(transformation_cache.get(self.key, state_manager))
        return self._transform_input_tensor(sparse, state_manager)


class Weighted(ContribColumn, _Weighted):
    """``weighted_sparse_column``."""

    @property
    def sparse_id_column(self) -> Any:
        """The column of the ids."""
        return self.categorical_column

    @property
    def weight_column_name(self) -> str:
        """The key of the feature with the weights."""
        return self.weight_feature_key

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.categorical_column.length

    @property
    def lookup_config(self) -> LookupConfig | None:
        """The settings of the lookup of ids."""
        return self.categorical_column.lookup_config

    @property
    def combiner(self) -> str:
        """The way in which a linear model adds up several values."""
        return self.categorical_column.combiner

    def is_compatible(self, other: Any) -> bool:
        """Returns whether another column's ids may be in the same table."""
        return self.categorical_column.is_compatible(getattr(other, "sparse_id_column", other))

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the ids and the weights."""
        ids = transformation_cache.get(self.categorical_column, state_manager)
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if not isinstance(weights, tf.SparseTensor):
            weights = tf.sparse.from_dense(weights)
        if not weights.dtype.is_floating:
            weights = tf.sparse.map_values(tf.cast, weights, tf.float32)
        return ids, weights
