"""Feature columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from estimator_bridge.tensorflow_private.names import tpu_feature_columns

__all__ = [
    "CORE_EMBEDDING_COLUMNS",
    "EMBEDDING_COLUMN",
    "SHARED_EMBEDDING_COLUMN",
    "columns_as_on_a_cpu",
    "is_v2_column",
    "shared_table_name",
]


@contextlib.contextmanager
def columns_as_on_a_cpu() -> Iterator[None]:
    """Lets the columns of TPU embeddings make and read variables, whatever the shard context says.

    In it they expect that a TPU's embedding engine has looked up already; they have no setting.
    """
    before = tpu_feature_columns._is_running_on_cpu
    tpu_feature_columns._is_running_on_cpu = lambda: True
    try:
        yield
    finally:
        tpu_feature_columns._is_running_on_cpu = before


# The kinds of columns of TPU embeddings: of one table, of a shared one, and those on a core.
EMBEDDING_COLUMN = tpu_feature_columns._TPUEmbeddingColumnV2
SHARED_EMBEDDING_COLUMN = tpu_feature_columns._TPUSharedEmbeddingColumnV2
CORE_EMBEDDING_COLUMNS = (
    tpu_feature_columns._TPUDeviceSpecificEmbeddingColumnV2,
    tpu_feature_columns._TPUSharedDeviceSpecificEmbeddingColumnV2,
)


def is_v2_column(column: Any) -> bool:
    """Whether a feature column is of today's kind; programs' own may have V1's interface."""
    return column._is_v2_column


def shared_table_name(column: Any) -> str:
    """The name of the variable that columns of one shared embedding have."""
    return column.shared_embedding_column_creator._name
