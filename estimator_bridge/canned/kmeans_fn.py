"""The model_fn of k-means and its hooks, which initialize the clusters and end the training."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.canned.one_replica import check_one_replica
from estimator_bridge.export import PredictOutput
from estimator_bridge.model import EstimatorSpec, ModeKeys, RunConfig
from estimator_bridge.model.cross_shard import cross_replica_sum, number_of_parts, number_of_shards
from estimator_bridge.tensorflow_private.names import KMeansGraph
from estimator_bridge.training.own_hooks import FirstBatchesHook

__all__ = [
    "ALL_DISTANCES",
    "CLUSTER_INDEX",
    "SCORE",
    "InitializeClustersHook",
    "LossRelativeChangeHook",
    "kmeans_fn",
    "points_of",
    "with_step_count",
]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_SERVING = "serving_default"
_WAIT_SECONDS = 1.0
ALL_DISTANCES, CLUSTER_INDEX, SCORE = "all_distances", "cluster_index", "score"


def kmeans_fn(
    features: Any,
    mode: str,
    config: RunConfig,
    *,
    random_seed: int | None,
    relative_tolerance: float | None,
    feature_columns: Any,
    **clustering: Any,
) -> EstimatorSpec:
    """The model of `KMeans`; ``clustering`` holds arguments of TensorFlow's clustering graph."""
    if mode == ModeKeys.TRAIN:
        check_one_replica("KMeans", "a step moves the clusters to the means of its own batch")
    points = points_of(features, feature_columns)
    if random_seed is None and config.tf_random_seed is None:
        random_seed = random.randrange(1, 1 << 31)  # k-means++ has no kernel without a seed
    distances, indices, nearest, is_initialized, init_op, train_op = KMeansGraph(
        inputs=points, random_seed=random_seed, **clustering
    ).training_graph()
    loss, parts = tf.reduce_sum(nearest), number_of_parts()
    if parts > 1:
        loss = cross_replica_sum(loss)  # the score covers the whole batch on each core
    if number_of_shards() is not None:  # a core's outputs have static shapes
        distances[0].set_shape([points.shape[0], clustering["num_clusters"]])
        indices[0].set_shape([points.shape[0]])
    _v1.summary.scalar("loss/raw", loss)
    train_op = with_step_count(train_op, loss)
    hooks: list[Any] = [InitializeClustersHook(init_op, is_initialized, config.is_chief)]
    if relative_tolerance is not None:
        hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
    predictions = {ALL_DISTANCES: distances[0], CLUSTER_INDEX: indices[0]}
    outputs = {key: PredictOutput(value) for key, value in predictions.items()}
    outputs[_SERVING] = PredictOutput(indices[0])
    return EstimatorSpec(
        mode=mode,
        predictions=predictions,
        loss=loss,
        train_op=train_op,
        eval_metric_ops={SCORE: _v1.metrics.mean(loss, 1.0 / parts if parts > 1 else None)},
        training_hooks=hooks,
        export_outputs=outputs,
    )


def points_of(features: Any, feature_columns: Any) -> tf.Tensor:
    """Returns the points [batch, dimensions] of features.

    Args:
      features: a tensor of points; or features by key, each of shape [batch, n].
      feature_columns: dense columns that turn features into points; by default the features are the
        coordinates, in the order of their keys.
    """
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return _v1.feature_column.input_layer(features, feature_columns)
    return tf.concat([features[key] for key in sorted(features)], axis=1)


def with_step_count(train_op: Any, loss: tf.Tensor) -> tf.Tensor:
    """Returns the train_op of a spec: it trains, increments the global step and gives the loss.

    Args:
      train_op: the operation that trains and does not increment the global step.
      loss: the loss, a scalar.
    """
    increment = _v1.assign_add(_v1.train.get_global_step(), 1)
    with tf.control_dependencies([train_op, increment]):
        return tf.identity(loss)


class InitializeClustersHook(FirstBatchesHook):
    """Chooses the first clusters from as many batches as needed; workers wait for the chief."""

    def __init__(self, init_op: Any, is_initialized: Any, is_chief: bool):
        self._init_op = init_op
        self._is_initialized = is_initialized
        self._is_chief = is_chief

    def use_input(self, run: Callable[[Any], Any]) -> None:
        """Initializes the clusters; ``run`` runs an operation on the next batch."""
        while not run(self._is_initialized):
            try:
                if self._is_chief:
                    run(self._init_op)
                else:
                    time.sleep(_WAIT_SECONDS)
            except RuntimeError as error:
                logging.info(error)


class LossRelativeChangeHook(_Hook):
    """Stops training when the loss hardly changes between steps."""

    def __init__(self, loss: tf.Tensor, tolerance: float):
        self._loss = loss
        self._tolerance = tolerance
        self._before: float | None = None

    def before_run(self, run_context: Any) -> Any:
        """Requests the loss."""
        del run_context
        return _v1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares the loss with that of the previous step."""
        loss = run_values.results
        if self._before and abs(loss - self._before) / (1 + abs(self._before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss
