"""tf.contrib.learn's KMeansClustering: that of tf.contrib.factorization with fit and score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.canned.kmeans_fn import (
    InitializeClustersHook,
    LossRelativeChangeHook,
    points_of,
    with_step_count,
)
from estimator_bridge.tensorflow_private.names import KMeansGraph
from estimator_bridge_contrib.learn.estimator import Estimator
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["KMeansClustering"]

_v1 = tf.compat.v1


class KMeansClustering(Estimator):
    """Finds clusters of points.

    Args:
      num_clusters: the number of clusters.
      model_dir: see `Estimator`.
      initial_clusters: the first centers: an array, or RANDOM_INIT or KMEANS_PLUS_PLUS_INIT.
      distance_metric: SQUARED_EUCLIDEAN_DISTANCE or COSINE_DISTANCE.
      random_seed: the seed for the first centers.
      use_mini_batch: whether a step moves centers by a batch; otherwise a batch must be all points.
      mini_batch_steps_per_iteration: the number of steps after which moves take effect.
      kmeans_plus_plus_num_retries: the number of extra points drawn for each center.
      relative_tolerance: the relative change of the loss below which training stops.
      config: see `Estimator`.
    """

    SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
    COSINE_DISTANCE = "cosine"
    RANDOM_INIT = "random"
    KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ):
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            if labels is not None:
                raise ValueError(f"It takes no labels: return (features, None). Got {labels}.")
            distances, indices, nearest, is_initialized, init_op, train_op = KMeansGraph(
                points_of(features, None),
                num_clusters,
                initial_clusters,
                distance_metric,
                use_mini_batch,
                mini_batch_steps_per_iteration,
                random_seed,
                kmeans_plus_plus_num_retries,
            ).training_graph()
            loss = tf.reduce_sum(nearest, name="kmeans_loss")
            _v1.summary.scalar("loss/raw", loss)
            train_op = with_step_count(train_op, loss)
            hooks: list[Any] = [InitializeClustersHook(init_op, is_initialized, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
            predictions = {self.ALL_SCORES: distances[0], self.CLUSTER_IDX: indices[0]}
            return ModelFnOps(
                mode,
                predictions,
                loss,
                train_op,
                eval_metric_ops={self.SCORES: loss},
                training_hooks=hooks,
            )

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_idx(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Yields the index of each point's nearest center."""
        for each in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield each[self.CLUSTER_IDX]

    def score(self, input_fn: Callable[..., Any], steps: int | None = None) -> Any:
        """Returns the sum of the distances of the last batch's points to their nearest centers."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Callable[..., Any], as_iterable: bool = False) -> Any:
        """Returns points' distances to all centers.

        Args:
          input_fn: returns the points.
          as_iterable: whether to return an iterator over the points' distances by name; otherwise
            the distances of a batch, [batch, num_clusters].
        """
        predictions = self.predict(
            input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable
        )
        return predictions if as_iterable else predictions[self.ALL_SCORES]

    def clusters(self) -> np.ndarray:
        """Returns the centers in the latest checkpoint, [num_clusters, dimensions]."""
        return self.get_variable_value(self.CLUSTERS)
