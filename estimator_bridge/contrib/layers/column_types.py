"""The columns of ``tf.contrib.layers``: those of ``tf.feature_column`` with contrib's attributes.

They work with ``tf.compat.v1.feature_column.input_layer`` and ``linear_model`` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.contrib.layers.column_hashes import crossed_ids
from estimator_bridge.contrib.layers.column_tables import embedded
from estimator_bridge.tensorflow_private import feature_columns as columns

__all__ = [
    "Bucketized",
    "Crossed",
    "Embedding",
    "Features",
    "Hashed",
    "Integerized",
    "Keys",
    "LookupConfig",
    "MissingFeatureError",
    "Numbers",
    "OneHot",
    "Scattered",
    "SparseColumn",
    "Vocabulary",
    "Weighted",
    "is_contrib_column",
    "sparse_input",
]

_Numeric: Any = columns.NumericColumn
_Bucketized: Any = columns.BucketizedColumn
_Hashed: Any = columns.HashedCategoricalColumn
_Identity: Any = columns.IdentityCategoricalColumn
_List: Any = columns.VocabularyListCategoricalColumn
_File: Any = columns.VocabularyFileCategoricalColumn
_Weighted: Any = columns.WeightedCategoricalColumn
_Crossed: Any = columns.CrossedColumn
_Indicator: Any = columns.IndicatorColumn
_Embedding: Any = columns.EmbeddingColumn


class LookupConfig(NamedTuple):
    """How a column with a vocabulary finds ids.

    Attributes:
      vocabulary_file: the file of the words; None for a list.
      keys: the words; None for a file.
      num_oov_buckets: the number of ids for other words.
      vocab_size: the number of words.
      default_value: the id of other words.
    """

    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class MissingFeatureError(KeyError, ValueError):
    """A column needs a feature that is not there: a KeyError in contrib, elsewhere a ValueError."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError shows its argument in quotes


class Features:
    """The tensors of features, and of columns once they are transformed.

    Args:
      tensors: by name or column, the tensors; the columns' are added.
    """

    def __init__(self, tensors: dict[Any, Any]):
        self._tensors = tensors

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """Returns the tensor of a feature or of a column.

        Raises:
          MissingFeatureError: there is no such feature.
        """
        if key not in self._tensors:
            if not is_contrib_column(key):
                raise MissingFeatureError(
                    f"The features have no {key!r}, which a column needs. They have: "
                    f"{', '.join(sorted(str(k) for k in self._tensors if isinstance(k, str)))}."
                )
            self._tensors[key] = key.transform_feature(self, state_manager)
        return self._tensors[key]


class _ContribColumn:
    """The attributes of all columns, and their comparison, which includes those."""

    transform_feature: Any
    parse_example_spec: Any

    @classmethod
    def _make_with(cls, *fields: Any, **attributes: Any) -> Any:
        made = cls.__new__(cls, *fields)
        vars(made).update(attributes)
        return made

    @property
    def config(self) -> dict[str, Any]:
        """What ``tf.io.parse_example`` needs for the column."""
        return dict(self.parse_example_spec)

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's transformed tensor to a dict of features."""
        columns_to_tensors[self] = self.transform_feature(Features(columns_to_tensors), None)

    def _transform_feature(self, inputs: Any) -> Any:
        """Transforms the column for ``tf.compat.v1.feature_column``."""
        return self.transform_feature(_WithoutState(inputs), None)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and tuple.__eq__(self, other)  # type: ignore[operator]
            and vars(self) == vars(other)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)  # type: ignore[arg-type]


class _WithoutState:
    """Features of tf.compat.v1.feature_column, as a cache of tf.feature_column."""

    def __init__(self, inputs: Any):
        self._inputs = inputs

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """Returns the tensor of a feature or of a column."""
        del state_manager
        return self._inputs.get(key)


def is_contrib_column(column: Any) -> bool:
    """Returns whether a column is one of ``tf.contrib.layers``."""
    return isinstance(column, _ContribColumn)


def sparse_input(tensor: Any, rank: int = 2) -> tf.SparseTensor:
    """Returns ids or words as a SparseTensor; -1 and "" are missing ones in a dense tensor."""
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank == rank - 1:
        tensor = tf.expand_dims(tensor, -1)
    with tf.name_scope("DenseToSparseTensor"):
        missing = tf.constant("" if tensor.dtype == tf.string else -1, tensor.dtype)
        indices = tf.where(tf.not_equal(tensor, missing), name="indices")
        values = tf.gather_nd(tensor, indices, name="values")
        return tf.SparseTensor(indices, values, tf.shape(tensor, out_type=tf.int64))


class SparseColumn(_ContribColumn):
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

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids."""
        found = sparse_input(transformation_cache.get(self.key, state_manager))
        return tf.SparseTensor(found.indices, self.ids_of(found.values), found.dense_shape)

    def ids_of(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the ids of values; each kind of column has its own way."""
        raise NotImplementedError(f"{type(self).__name__} has no ids of values.")

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
        """What ``tf.io.parse_example`` needs."""
        return {self.key: tf.io.VarLenFeature(self.dtype)}

    def ids_of(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the values, modulo the number of ids."""
        return tf.math.floormod(values, tf.cast(self.num_buckets, values.dtype), name="mod")


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
        found = sparse_input(transformation_cache.get(self.key, state_manager))
        words = tf.strings.as_string(found.values) if self.dtype.is_integer else found.values
        if not self.hash_keys:
            ids = tf.strings.to_hash_bucket_fast(words, self.num_buckets, name="lookup")
            return tf.SparseTensor(found.indices, ids, found.dense_shape)
        strong = [
            tf.strings.to_hash_bucket_strong(words, self.num_buckets, list(key))
            for key in self.hash_keys
        ]
        parts = [tf.SparseTensor(found.indices, ids, found.dense_shape) for ids in strong]
        return tf.sparse.concat(axis=1, sp_inputs=parts, name="lookup")


class Keys(SparseColumn, _List):
    """``sparse_column_with_keys``."""

    @property
    def lookup_config(self) -> LookupConfig:  # type: ignore[override]
        """How ids are found."""
        words = tuple(self.vocabulary_list)
        return LookupConfig(keys=words, vocab_size=len(words), default_value=self.default_value)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids of words."""
        found = sparse_input(transformation_cache.get(self.key, state_manager))
        return self._transform_input_tensor(found, state_manager)


class Vocabulary(SparseColumn, _File):
    """``sparse_column_with_vocabulary_file``."""

    @property
    def lookup_config(self) -> LookupConfig:  # type: ignore[override]
        """How ids are found."""
        return LookupConfig(
            self.vocabulary_file, None, self.num_oov_buckets, self.vocabulary_size,
            self.default_value,
        )  # fmt: skip

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.SparseTensor:
        """Returns the ids of words."""
        found = sparse_input(transformation_cache.get(self.key, state_manager))
        return self._transform_input_tensor(found, state_manager)


class Weighted(_ContribColumn, _Weighted):
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
        """How ids are found."""
        return self.categorical_column.lookup_config

    @property
    def combiner(self) -> str:
        """How a linear model adds up several values."""
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


class Numbers(_ContribColumn, _Numeric):
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
        """What ``tf.io.parse_example`` needs."""
        given = None if self.default_value is None else list(self.default_value)
        return {self.key: tf.io.FixedLenFeature([self.dimension], self.dtype, given)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> tf.Tensor:
        """Returns the numbers, normalized, as float32."""
        found = transformation_cache.get(self.key, state_manager)
        return tf.cast(found if self.normalizer is None else self.normalizer(found), tf.float32)


class Bucketized(_ContribColumn, _Bucketized):
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


class Crossed(_ContribColumn, _Crossed):
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
        """What ``tf.io.parse_example`` needs."""
        found: dict[str, Any] = {}
        for column in self.columns:
            found.update(column.parse_example_spec)
        return found

    def leaves(self) -> list[Any]:
        """Returns the columns that are crossed, those of crossed columns instead of these."""
        found: list[Any] = []
        for column in self.columns:
            found += column.leaves() if isinstance(column, Crossed) else [column]
        return found

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


class OneHot(_ContribColumn, _Indicator):
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
        found = transformation_cache.get(self.categorical_column, state_manager)
        ids, weights = found if isinstance(found, tuple) else (found, None)
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


class Embedding(_ContribColumn, _Embedding):
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
        found = inputs.get(self)
        ids, weights = found if isinstance(found, tuple) else (found, None)
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


class Scattered(_ContribColumn, _ScatteredFields):
    """``scattered_embedding_column``, for the functions of ``tf.contrib.layers`` alone."""

    @property
    def name(self) -> str:
        """The column's name, for scopes."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What ``tf.io.parse_example`` needs."""
        return {self.column_name: tf.io.VarLenFeature(tf.string)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the feature."""
        return transformation_cache.get(self.column_name, state_manager)
