"""SDCAOptimizer: the optimizer of tf.contrib.learn's linear models that keeps dual variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.one_replica import check_one_replica
from estimator_bridge.canned.sdca_examples import unique_ids
from estimator_bridge_contrib.layers.column_order import kind_of, sort_key
from estimator_bridge_contrib.layers.column_types import Bucketized, Crossed, Numbers
from estimator_bridge_contrib.layers.id_column_types import SparseColumn, Weighted
from estimator_bridge_contrib.linear_optimizer.sdca_model import SdcaModel
from estimator_bridge_contrib.linear_optimizer.sparse_feature_column import (
    SparseFeatureColumn,
)

__all__ = ["SDCAOptimizer"]


class SDCAOptimizer:
    """Stochastic dual coordinate ascent, for LinearClassifier and LinearRegressor.

    It keeps a dual variable for each example by the example's ID, and has no learning rate. The
    model must have two classes or predict one number.

    Args:
      example_id_column: the feature key of the example IDs, strings [batch].
      num_loss_partitions: the number of workers that train on parts of the data.
      num_table_shards: the number of tables for the examples' state; None is 1.
      symmetric_l1_regularization: at least 0.
      symmetric_l2_regularization: at least 0; the solver uses at least 1.
      adaptive: whether to sample examples by their expected gain.
      partitioner: a partitioner for the weights.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Any = None,
    ):
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive
        self._partitioner = partitioner

    def get_name(self) -> str:
        """Returns "SDCAOptimizer"."""
        return "SDCAOptimizer"

    @property
    def example_id_column(self) -> str:
        """The feature key of the example IDs."""
        return self._example_id_column

    @property
    def num_loss_partitions(self) -> int:
        """The number of workers that train on parts of the data."""
        return self._num_loss_partitions

    @property
    def num_table_shards(self) -> int | None:
        """The number of tables for the examples' state; None is 1."""
        return self._num_table_shards

    @property
    def symmetric_l1_regularization(self) -> float:
        """The L1 regularization."""
        return self._symmetric_l1_regularization

    @property
    def symmetric_l2_regularization(self) -> float:
        """The L2 regularization, as given."""
        return self._symmetric_l2_regularization

    @property
    def adaptive(self) -> bool:
        """True to sample examples by their expected gain."""
        return self._adaptive

    @property
    def partitioner(self) -> Any:
        """The partitioner for the weights, or None."""
        return self._partitioner

    def get_train_step(
        self,
        columns_to_variables: Mapping[Any, Sequence[Any]],
        weight_column_name: str | None,
        loss_type: str,
        features: Mapping[Any, Any],
        targets: tf.Tensor,
        global_step: Any,
    ) -> tuple[SdcaModel, tf.Operation]:
        """Builds a step.

        Args:
          columns_to_variables: by column of tf.contrib.layers, the variables of its weights, parts
            of consecutive rows.
          weight_column_name: the feature key of the examples' weights, or None.
          loss_type: see `SdcaModel`.
          features: the batch by key, and its transformed columns by column.
          targets: the labels, [batch] or [batch, 1].
          global_step: a variable to increment, or None.

        Returns:
          The model, whose `update_weights` has to run after the step, and the step's operation.

        Raises:
          KeyError: the features have no example IDs.
          ValueError: a column is of another kind, or there are several replicas.
        """
        check_one_replica("SDCAOptimizer", "a step solves the dual problem of its own batch")
        if self._example_id_column not in features:
            keys = sorted(key for key in features if isinstance(key, str))
            raise KeyError(
                f"SDCAOptimizer identifies examples by the feature {self._example_id_column!r}, a "
                f"string for each; the features are {keys}. Return it from input_fn, too."
            )
        labels = tf.cast(tf.reshape(targets, [-1]), tf.float32)
        sparse, dense = [], []
        for column in sorted(columns_to_variables, key=sort_key):
            feature, parts = features[column], list(columns_to_variables[column])
            if isinstance(column, Numbers):
                dense.append((_matrix(feature), parts))
            else:
                sparse.append((_entries(column, feature), parts))
        weights = tf.ones_like(labels)
        if weight_column_name:
            weights = tf.cast(tf.reshape(features[weight_column_name], [-1]), tf.float32)
        model = SdcaModel(
            examples={
                "sparse_features": [entries for entries, _ in sparse],
                "dense_features": [numbers for numbers, _ in dense],
                "example_labels": labels,
                "example_weights": weights,
                "example_ids": features[self._example_id_column],
            },
            variables={
                "sparse_features_weights": [parts for _, parts in sparse],
                "dense_features_weights": [parts for _, parts in dense],
            },
            options={
                "symmetric_l1_regularization": self._symmetric_l1_regularization,
                "symmetric_l2_regularization": self._symmetric_l2_regularization,
                "adaptive": self._adaptive,
                "num_loss_partitions": self._num_loss_partitions,
                "num_table_shards": self._num_table_shards,
                "loss_type": loss_type,
            },
        )
        return model, model.minimize(global_step=global_step)


def _matrix(numbers: tf.Tensor) -> tf.Tensor:
    """Returns numbers as [batch, n]."""
    return tf.reshape(numbers, [tf.shape(numbers)[0], -1])


def _entries(column: Any, feature: Any) -> SparseFeatureColumn:
    """Returns a transformed column's ids; those of unknown words are dropped."""
    weights = None
    if isinstance(column, Bucketized):
        feature = column.sparse_ids(feature)
    elif isinstance(column, Weighted):
        feature, weights = feature
    elif not isinstance(column, (Crossed, SparseColumn)):
        raise ValueError(f"SDCAOptimizer does not support column type {kind_of(column)}.")
    return SparseFeatureColumn(*unique_ids(feature, weights))
