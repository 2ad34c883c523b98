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
