"""Clustering by k-means: tf.compat.v1.estimator.experimental.KMeans."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from estimator_bridge.canned.columns import as_tuple
from estimator_bridge.canned.kmeans_fn import ALL_DISTANCES, CLUSTER_INDEX, SCORE, kmeans_fn
from estimator_bridge.model import RunConfig
from estimator_bridge.training import EstimatorV1

__all__ = ["KMeans"]

_EUCLIDEAN, _COSINE = "squared_euclidean", "cosine"
_RANDOM, _PLUS_PLUS = "random", "kmeans_plus_plus"


class KMeans(EstimatorV1):
    """Finds clusters of points.

    An input_fn returns points, or points and None: a tensor [batch, dimensions], or features by
    key. The score, which is the loss too, is the sum of a batch's distances to the nearest centers.

    Args:
      num_clusters: the number of clusters; ignored if initial_clusters is an array.
      model_dir: see `Estimator`.
      initial_clusters: the first centers: an array [num_clusters, dimensions]; or RANDOM_INIT,
        random points from as many batches as necessary; or KMEANS_PLUS_PLUS_INIT, distant points
        from one batch of at least num_clusters points; or a function of a list with a batch of
        points and the number of centers still to choose, which returns at most that many.
      distance_metric: SQUARED_EUCLIDEAN_DISTANCE or COSINE_DISTANCE.
      seed: the seed for the first centers.
      use_mini_batch: whether a step moves centers by a batch. Otherwise a step recomputes them, and
        a batch must be all the data.
      mini_batch_steps_per_iteration: with use_mini_batch, the number of steps after which moves of
        the centers take effect.
      kmeans_plus_plus_num_retries: the number of extra points drawn for each center, the best of
        which is used; if negative, TensorFlow chooses.
      relative_tolerance: the relative change of the loss between steps below which training stops.
      config: see `Estimator`.
      feature_columns: dense columns that turn features into points; by default the features are the
        coordinates, in the order of their keys.

    Raises:
      ValueError: initial_clusters or distance_metric is invalid.
    """

    SQUARED_EUCLIDEAN_DISTANCE = _EUCLIDEAN
    COSINE_DISTANCE = _COSINE
    RANDOM_INIT = _RANDOM
    KMEANS_PLUS_PLUS_INIT = _PLUS_PLUS
    # A metric of evaluate(), keys of predict(), and the variable of cluster_centers().
    SCORE = SCORE
    CLUSTER_INDEX = CLUSTER_INDEX
    ALL_DISTANCES = ALL_DISTANCES
    CLUSTER_CENTERS_VAR_NAME = "clusters"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | os.PathLike[str] | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Iterable[Any] | None = None,
    ):
        if isinstance(initial_clusters, str):
            _check("initialization algorithm", initial_clusters, (_RANDOM, _PLUS_PLUS))
        _check("distance metric", distance_metric, (_EUCLIDEAN, _COSINE))
        self._distance_metric = distance_metric
        model_fn = functools.partial(
            kmeans_fn,
            num_clusters=num_clusters,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            random_seed=seed,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            feature_columns=as_tuple(feature_columns),
        )
        super().__init__(model_fn, model_dir, config)

    def predict_cluster_index(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """Yields the index of each point's nearest center."""
        yield from self._predict_values(input_fn, CLUSTER_INDEX)

    def score(self, input_fn: Callable[..., Any]) -> float:
        """Returns the sum of distances of the first batch's points to their nearest centers.

        Euclidean distances are squared.
        """
        return self.evaluate(input_fn, steps=1)[SCORE]

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[np.ndarray]:
        """Yields each point's distances to all centers, [num_clusters], not squared."""
        for distances in self._predict_values(input_fn, ALL_DISTANCES):
            is_squared = self._distance_metric == _EUCLIDEAN
            yield np.sqrt(distances) if is_squared else distances

    def cluster_centers(self) -> np.ndarray:
        """Returns the centers in the latest checkpoint, [num_clusters, dimensions]."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)

    def _predict_values(self, input_fn: Callable[..., Any], key: str) -> Iterator[Any]:
        for prediction in self.predict(input_fn, predict_keys=[key]):
            yield prediction[key]


def _check(setting: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"Unsupported {setting} '{value}'. Use one of {list(choices)}.")
