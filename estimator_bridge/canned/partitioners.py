"""The variable partitioners of tf.compat.v1.estimator's canned estimators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["input_partitioner", "partitioner"]

_SLICE = 64 << 20  # bytes, the minimum size of a part of an input layer's variable


def partitioner(config: Any) -> Any:
    """Returns a partitioner into one part per parameter server; without servers, one part."""
    return tf.compat.v1.min_max_variable_partitioner(max_partitions=_servers(config))


def input_partitioner(config: Any) -> Any:
    """Returns the partitioner for the variables of feature columns, which may be large."""
    return tf.compat.v1.min_max_variable_partitioner(
        max_partitions=_servers(config), min_slice_size=_SLICE
    )


def _servers(config: Any) -> int:
    return config.num_ps_replicas if config else 0
