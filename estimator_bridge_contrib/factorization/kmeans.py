"""KMeansClustering: k-means with the arguments of tf.contrib.factorization."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from estimator_bridge.canned.kmeans import KMeans
from estimator_bridge.canned.kmeans_fn import ALL_DISTANCES
from estimator_bridge.model import RunConfig

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "KMeansClustering",
]

COSINE_DISTANCE = KMeans.COSINE_DISTANCE
KMEANS_PLUS_PLUS_INIT = KMeans.KMEANS_PLUS_PLUS_INIT
RANDOM_INIT = KMeans.RANDOM_INIT
SQUARED_EUCLIDEAN_DISTANCE = KMeans.SQUARED_EUCLIDEAN_DISTANCE


class KMeansClustering(KMeans):
    """Finds clusters of points: tf.estimator.experimental.KMeans with older arguments.

    Args:
      num_clusters: the number of clusters; ignored if initial_clusters is an array.
      model_dir: see `Estimator`.
      initial_clusters: see `KMeans`.
      distance_metric: SQUARED_EUCLIDEAN_DISTANCE or COSINE_DISTANCE.
      random_seed: the seed for the first centers.
      use_mini_batch: see `KMeans`.
      mini_batch_steps_per_iteration: as well.
      kmeans_plus_plus_num_retries: as well.
      relative_tolerance: as well.
      config: see `Estimator`.
      feature_columns: see `KMeans`.

    Raises:
      ValueError: initial_clusters or distance_metric is invalid.
    """

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | os.PathLike[str] | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Iterable[Any] | None = None,
    ):
        super().__init__(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
            feature_columns,
        )

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[np.ndarray]:
        """Yields each point's distances to all centers, [num_clusters]; Euclidean ones squared."""
        yield from self._predict_values(input_fn, ALL_DISTANCES)
