"""The entries of a sparse feature in a batch, for `SdcaModel`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["SparseFeatureColumn"]


class SparseFeatureColumn:
    """The entries of a sparse feature: the example, the id and the value of each.

    Args:
      example_indices: the examples' numbers in the batch, int64 [entries], ascending.
      feature_indices: the ids, int64 [entries].
      feature_values: the values, float32 [entries]; None for 1.
    """

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any):
        name = "SparseFeatureColumn"
        with tf.compat.v1.name_scope(None, name, [example_indices, feature_indices]):
            self._example_indices = tf.convert_to_tensor(
                example_indices, tf.int64, name="example_indices"
            )
            self._feature_indices = tf.convert_to_tensor(
                feature_indices, tf.int64, name="feature_indices"
            )
        self._feature_values = None
        if feature_values is not None:
            with tf.compat.v1.name_scope(None, name, [feature_values]):
                self._feature_values = tf.convert_to_tensor(
                    feature_values, tf.float32, name="feature_values"
                )

    @property
    def example_indices(self) -> tf.Tensor:
        """The examples' numbers, int64 [entries]."""
        return self._example_indices

    @property
    def feature_indices(self) -> tf.Tensor:
        """The ids, int64 [entries]."""
        return self._feature_indices

    @property
    def feature_values(self) -> tf.Tensor | None:
        """The values, float32 [entries], or None."""
        return self._feature_values
