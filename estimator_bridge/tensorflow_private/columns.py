"""Feature columns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

# What columns of sequences read their features from, in the input layers of tf.contrib.
from tensorflow.python.feature_column import feature_column as v1_feature_columns

from estimator_bridge.tensorflow_private.names import feature_columns, tpu_feature_columns

__all__ = [
    "EMBEDDING_COLUMN",
    "PLAIN_EMBEDDING_COLUMNS",
    "SHARED_EMBEDDING_COLUMN",
    "column_scope",
    "columns_as_on_a_cpu",
    "core_lookup_width",
    "embedding_lookup_device",
    "is_v2_column",
    "sequence_of",
    "shared_table_name",
]


# TPU embedding columns: with their own table, and with a shared table.
EMBEDDING_COLUMN = tpu_feature_columns._TPUEmbeddingColumnV2
SHARED_EMBEDDING_COLUMN = tpu_feature_columns._TPUSharedEmbeddingColumnV2
_SEQUENCE_METHODS = (
    (EMBEDDING_COLUMN, "_get_sequence_dense_tensor"),
    (EMBEDDING_COLUMN, "get_sequence_dense_tensor"),
    (SHARED_EMBEDDING_COLUMN, "get_sequence_dense_tensor"),
)

# Embedding columns that a TPU does not look up.
PLAIN_EMBEDDING_COLUMNS = (
    feature_columns.EmbeddingColumn,
    feature_columns.SharedEmbeddingColumn,
    v1_feature_columns._EmbeddingColumn,
    v1_feature_columns._SharedEmbeddingColumn,
)


@contextlib.contextmanager
def columns_as_on_a_cpu() -> Iterator[None]:
    """Lets TPU embedding columns create and read variables inside a shard context.

    They otherwise expect that the TPU's embedding engine has done the lookup; no option changes
    that. The shapes of sequences are static, as after the engine's lookup.
    """
    before = tpu_feature_columns._is_running_on_cpu
    methods = [(kind, name, getattr(kind, name)) for kind, name in _SEQUENCE_METHODS]
    tpu_feature_columns._is_running_on_cpu = lambda: True
    for kind, name, method in methods:
        setattr(kind, name, _with_static_shape(method))
    try:
        yield
    finally:
        tpu_feature_columns._is_running_on_cpu = before
        for kind, name, method in methods:
            setattr(kind, name, method)


def _with_static_shape(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a column's method that returns its sequences and their lengths."""

    def get(column: Any, inputs: Any, *state: Any, **options: Any) -> Any:
        sequences = method(column, inputs, *state, **options)
        is_v1 = isinstance(inputs, v1_feature_columns._LazyBuilder)
        ids = inputs.get(column.get_feature_key_name(), *(() if is_v1 else state))
        shape = [ids.shape[0], column.get_max_sequence_length(), sequences.dense_tensor.shape[-1]]
        return type(sequences)(
            tf.ensure_shape(sequences.dense_tensor, shape),
            tf.ensure_shape(sequences.sequence_length, shape[:1]),
        )

    return get


_DEVICES = {
    tpu_feature_columns.EmbeddingDevice.CPU: "cpu",
    tpu_feature_columns.EmbeddingDevice.TPU_TENSOR_CORE: "tpu_tensor_core",
    tpu_feature_columns.EmbeddingDevice.TPU_EMBEDDING_CORE: "tpu_embedding_core",
}


def embedding_lookup_device(column: Any) -> str | None:
    """Returns the argument embedding_lookup_device of a TPU embedding column."""
    return _DEVICES.get(getattr(column, "_embedding_lookup_device", None))


def core_lookup_width(column: Any) -> int:
    """Returns the number of ids that a core looks up for an example."""
    return column._tensor_core_shape[1]


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
      ValueError: it is not a column of sequences.
    """
    if hasattr(column, "_get_sequence_dense_tensor"):
        cache = v1_feature_columns._LazyBuilder(features)
        sequences = column._get_sequence_dense_tensor(cache, collections, trainable)
    elif isinstance(column, feature_columns.SequenceDenseColumn):
        sequences = column.get_sequence_dense_tensor(
            feature_columns.FeatureTransformationCache(features), None
        )
    else:
        raise ValueError(
            f"All feature_columns must be of type _SequenceDenseColumn, got {column}. Use "
            "sequence_numeric_column, or an embedding_column or indicator_column of a "
            "sequence_categorical_column."
        )
    return sequences.dense_tensor, sequences.sequence_length
