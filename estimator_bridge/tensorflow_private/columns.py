"""Feature columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

# What columns of sequences read their features from, in the input layers of tf.contrib.
from tensorflow.python.feature_column import feature_column as v1_feature_columns

from estimator_bridge.tensorflow_private.names import feature_columns, tpu_feature_columns

__all__ = [
    "CORE_EMBEDDING_COLUMNS",
    "EMBEDDING_COLUMN",
    "SHARED_EMBEDDING_COLUMN",
    "column_scope",
    "columns_as_on_a_cpu",
    "is_v2_column",
    "sequence_of",
    "shared_table_name",
]


@contextlib.contextmanager
def columns_as_on_a_cpu() -> Iterator[None]:
    """Lets TPU embedding columns create and read variables inside a shard context.

    They otherwise expect that the TPU's embedding engine has done the lookup; no option changes
    that.
    """
    before = tpu_feature_columns._is_running_on_cpu
    tpu_feature_columns._is_running_on_cpu = lambda: True
    try:
        yield
    finally:
        tpu_feature_columns._is_running_on_cpu = before


# TPU embedding columns: with their own table, with a shared table, and looked up on a core.
EMBEDDING_COLUMN = tpu_feature_columns._TPUEmbeddingColumnV2
SHARED_EMBEDDING_COLUMN = tpu_feature_columns._TPUSharedEmbeddingColumnV2
CORE_EMBEDDING_COLUMNS = (
    tpu_feature_columns._TPUDeviceSpecificEmbeddingColumnV2,
    tpu_feature_columns._TPUSharedDeviceSpecificEmbeddingColumnV2,
)


def is_v2_column(column: Any) -> bool:
    """Returns whether a column is a V2 feature column; a program's own may have V1's interface."""
    return column._is_v2_column


def shared_table_name(column: Any) -> str:
    """The variable name of a shared embedding column's table."""
    return column.shared_embedding_column_creator._name


def column_scope(column: Any) -> str:
    """The name of the variable scope that a column has in an input layer."""
    return getattr(column, "_var_scope_name", column.name)


def sequence_of(
    column: Any, features: dict[str, Any], collections: Sequence[str], trainable: bool
) -> tuple[Any, Any]:
    """Returns a column's sequences and their lengths, with variables of the current scope.

    Columns have this method for the input layers of tf.contrib; the public layer is one of Keras.

    Raises:
      ValueError: it is no column of sequences.
    """
    if hasattr(column, "_get_sequence_dense_tensor"):
        cache = v1_feature_columns._LazyBuilder(features)
        found = column._get_sequence_dense_tensor(cache, collections, trainable)
    elif isinstance(column, feature_columns.SequenceDenseColumn):
        found = column.get_sequence_dense_tensor(
            feature_columns.FeatureTransformationCache(features), None
        )
    else:
        raise ValueError(
            f"All feature_columns must be of type _SequenceDenseColumn, got {column}. Use "
            "sequence_numeric_column, or an embedding_column or indicator_column of a "
            "sequence_categorical_column."
        )
    return found.dense_tensor, found.sequence_length
