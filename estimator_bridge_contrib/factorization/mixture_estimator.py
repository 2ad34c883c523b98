"""GMM: an estimator of a mixture of Gaussian distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.canned.kmeans_fn import InitializeClustersHook, points_of, with_step_count
from estimator_bridge_contrib.factorization.gaussian_mixture import GmmAlgorithm, gmm
from estimator_bridge_contrib.learn.estimator import Estimator
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["GMM"]

_v1 = tf.compat.v1


class GMM(Estimator):
    """Fits a mixture of Gaussian distributions to points.

    Args:
      num_clusters: the number of distributions.
      model_dir: see `Estimator`.
      random_seed: the seed of random first means.
      params: see `GmmAlgorithm`.
      initial_clusters: "random", or the first means, [num_clusters, dimensions].
      covariance_type: "full" or "diag".
      config: see `Estimator`.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = "full",
        config: Any = None,
    ):
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            if labels is not None:
                raise ValueError(f"GMM takes no labels: return (features, None). Got {labels}.")
            points = points_of(features, None)
            loss, scores, assignments, train_op, init_op, is_initialized = gmm(
                points, initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            train_op = with_step_count(train_op, loss)
            return ModelFnOps(
                mode,
                predictions={GMM.ASSIGNMENTS: assignments[0][0]},
                loss=loss,
                train_op=train_op,
                eval_metric_ops={GMM.SCORES: scores, GMM.LOG_LIKELIHOOD: _sum(loss)},
                training_hooks=[InitializeClustersHook(init_op, is_initialized, config.is_chief)],
            )

        super().__init__(model_fn, model_dir, config)

    def predict_assignments(
        self,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
    ) -> Iterator[Any]:
        """Yields the most probable distribution of each point."""
        for each in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield each[GMM.ASSIGNMENTS]

    def score(
        self,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
    ) -> Any:
        """Returns the logarithm of the sum of the likelihoods of the last batch's points."""
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[GMM.SCORES])))

    def weights(self) -> np.ndarray:
        """Returns the distributions' weights, [num_clusters]."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> np.ndarray:
        """Returns the means, [num_clusters, dimensions]."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> np.ndarray:
        """Returns the covariances; see `GmmAlgorithm.covariances`."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _sum(value: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    total = _v1.Variable(
        0.0,
        trainable=False,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.METRIC_VARIABLES],
        name="sum",
    )
    return tf.identity(total), _v1.assign_add(total, value)
