"""The graph of expectation maximization for a mixture of Gaussian distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["GmmAlgorithm", "gmm"]

_v1 = tf.compat.v1
_FULL, _DIAGONAL = "full", "diag"
_LEAST_VARIANCE = 1e-3  # keeps covariances invertible
_EPSILON = np.finfo(float).eps


class GmmAlgorithm:
    """A mixture of Gaussian distributions of points, and the operations that fit it.

    Args:
      data: a list of tensors, each [examples, dimensions].
      num_classes: the number of distributions.
      initial_means: the first means, [num_classes, dimensions]; by default random points.
      params: which parameters training changes: letters of "wmc" for the weights, the means and the
        covariances. As in the original, means change only together with covariances.
      covariance_type: "full" for matrices, "diag" for diagonals.
      random_seed: the seed of the random points.

    Raises:
      ValueError: covariance_type is unknown.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: list[Any],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = _FULL,
        random_seed: int | None = 0,
    ):
        if covariance_type not in (_FULL, _DIAGONAL):
            raise ValueError(
                f"Invalid covariance type: {covariance_type}. Use {_FULL!r} or {_DIAGONAL!r}."
            )
        self._is_full = covariance_type == _FULL
        self._means = _variable([], self.CLUSTERS_VARIABLE)
        self._covariances = _variable([], self.CLUSTERS_COVS_VARIABLE)
        self._weights = _variable([1.0 / num_classes] * num_classes, self.CLUSTERS_WEIGHT)
        self._is_initialized = _variable(False, "initialized")
        self._init_op = self._initialized(data, num_classes, initial_means, random_seed)
        log_densities = [self._log_densities(shard) for shard in data]
        self._likelihoods = [
            tf.reduce_logsumexp(each, axis=1, keepdims=True) for each in log_densities
        ]
        self._memberships = [
            tf.exp(each - likelihood) for each, likelihood in zip(log_densities, self._likelihoods)
        ]
        self._training_op = self._trained(data, params)

    def init_ops(self) -> tf.Operation:
        """Returns the operation that chooses the first means and covariances."""
        return self._init_op

    def training_ops(self) -> tf.Operation:
        """Returns the operation of a training step."""
        return self._training_op

    def is_initialized(self) -> Any:
        """Returns the variable that says whether the first means are chosen."""
        return self._is_initialized

    def alphas(self) -> Any:
        """Returns the variable of the weights, [num_classes]."""
        return self._weights

    def clusters(self) -> Any:
        """Returns the variable of the means, [num_classes, 1, dimensions]."""
        return self._means

    def covariances(self) -> Any:
        """Returns the variable of the covariances.

        Its shape is [num_classes, dimensions, dimensions], or [num_classes, dimensions].
        """
        return self._covariances

    def assignments(self) -> list[tf.Tensor]:
        """Returns the most probable distribution of each point, for each tensor of data."""
        return [tf.argmax(each, 1) for each in self._memberships]

    def scores(self) -> tf.Tensor:
        """Returns the log-likelihood of each point, [examples, 1]."""
        scores = [
            likelihood + tf.math.log(membership)
            for likelihood, membership in zip(self._likelihoods, self._memberships)
        ]
        return tf.squeeze(tf.reduce_logsumexp(scores, axis=2, keepdims=True), axis=0)

    def log_likelihood_op(self) -> tf.Tensor:
        """Returns the logarithm of the sum of the points' likelihoods."""
        return tf.reduce_logsumexp([tf.reduce_logsumexp(each) for each in self._likelihoods])

    def _initialized(
        self, data: list[Any], num_classes: int, means: Any, seed: int | None
    ) -> tf.Operation:
        if means is None:
            means = _random_points(data, num_classes, seed)
        first = _covariance(data[0], not self._is_full)
        if self._is_full:
            covariance = first + _least_variance(data[0])
        else:
            covariance = tf.squeeze(first, 0) + _LEAST_VARIANCE
        repeated = tf.tile(tf.expand_dims(covariance, 0), [num_classes] + [1] * (1 + self._is_full))
        repeated = tf.reshape(repeated, tf.concat([[num_classes], tf.shape(covariance)], 0))

        def assign() -> tf.Tensor:
            assignments = [
                _v1.assign(self._means, tf.expand_dims(means, 1), validate_shape=False),
                _v1.assign(self._covariances, repeated, validate_shape=False),
            ]
            with tf.control_dependencies(assignments):
                return tf.identity(_v1.assign(self._is_initialized, True))

        chosen = _v1.cond(tf.identity(self._is_initialized), lambda: tf.constant(True), assign)
        return chosen.op

    def _log_densities(self, shard: tf.Tensor) -> tf.Tensor:
        """Returns the logarithms of weight times density, [examples, num_classes]."""
        dimensions = tf.cast(tf.shape(shard)[1], tf.float32)
        difference = tf.expand_dims(shard, 0) - self._means
        if self._is_full:
            root = tf.linalg.cholesky(self._covariances + _least_variance(shard))
            log_determinant = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), 1)
            scaled = tf.linalg.triangular_solve(root, tf.transpose(difference, [0, 2, 1]))
            distance = tf.transpose(tf.reduce_sum(tf.square(scaled), 1))
        else:
            variance = self._covariances + _LEAST_VARIANCE
            log_determinant = tf.reduce_sum(tf.math.log(variance), 1)
            scaled = tf.square(difference) / tf.expand_dims(variance, 1)
            distance = tf.transpose(tf.reduce_sum(scaled, 2))
        log_density = -0.5 * (distance + dimensions * math.log(2 * math.pi) + log_determinant)
        return log_density + tf.math.log(self._weights)

    def _trained(self, data: list[Any], params: str) -> tf.Operation:
        """Returns the maximization: the weighted moments of the points become the parameters."""
        sizes = tf.add_n([tf.reduce_sum(each, 0) for each in self._memberships])
        pairs = list(zip(self._memberships, data))
        sums = tf.add_n([tf.matmul(w, x, transpose_a=True) for w, x in pairs])
        squares = tf.add_n([tf.einsum("ek,ei,ej->kij", w, x, x) for w, x in pairs])
        with tf.control_dependencies(self._memberships):
            size = tf.reshape(sizes, [-1, 1, 1]) + _EPSILON
            updates: list[Any] = []
            if "w" in params:
                share = sizes / len(data)
                updates.append(_v1.assign(self._weights, share / (tf.reduce_sum(share) + _EPSILON)))
            means = tf.identity(self._means)
            if "m" in params and "c" in params:
                means = tf.expand_dims(sums, 1) / size
                updates.append(_v1.assign(self._means, means, validate_shape=False))
            if "c" in params:
                new = squares / size - tf.matmul(means, means, transpose_a=True)
                new += _least_variance(data[0])
                new = new if self._is_full else tf.linalg.diag_part(new)
                updates.append(_v1.assign(self._covariances, new, validate_shape=False))
        return tf.group(*updates)


def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int | None,
    covariance_type: str = _FULL,
    params: str = "wmc",
) -> tuple[Any, Any, list[list[tf.Tensor]], tf.Operation, tf.Operation, Any]:
    """Builds the graph of a mixture of Gaussian distributions.

    Args:
      inp: points, [examples, dimensions], or a list of such tensors.
      initial_clusters: "random", or the first means, [num_clusters, dimensions].
      num_clusters: the number of distributions.
      random_seed: the seed for "random".
      covariance_type: see `GmmAlgorithm`.
      params: as well.

    Returns:
      The log-likelihood, the points' log-likelihoods, a list with the list of assignments, the
      operation of a step, the operation that chooses the first means, and whether they are chosen.
    """
    data = inp if isinstance(inp, list) else [inp]
    is_random = isinstance(initial_clusters, str) and initial_clusters == "random"
    means = None if is_random else tf.convert_to_tensor(initial_clusters, tf.float32)
    mixture = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return (
        mixture.log_likelihood_op(),
        mixture.scores(),
        [mixture.assignments()],
        mixture.training_ops(),
        mixture.init_ops(),
        mixture.is_initialized(),
    )


def _variable(value: Any, name: str) -> Any:
    """Returns a variable whose shape is known once the data are."""
    dtype = tf.bool if isinstance(value, bool) else tf.float32
    start = _v1.placeholder_with_default(tf.constant(value, dtype), shape=None)
    return _v1.Variable(start, name=name, validate_shape=False)


def _least_variance(points: tf.Tensor) -> tf.Tensor:
    return _LEAST_VARIANCE * tf.eye(tf.shape(points)[1])


def _covariance(points: tf.Tensor, is_diagonal: bool) -> tf.Tensor:
    """Returns the covariance of points, or [1, dimensions], its diagonal."""
    freedom = tf.cast(tf.shape(points)[0], tf.float32) - 1
    centered = points - tf.reduce_mean(points, 0, keepdims=True)
    if is_diagonal:
        return tf.reduce_sum(tf.square(centered), 0, keepdims=True) / freedom
    return tf.matmul(centered, centered, transpose_a=True) / freedom


def _random_points(data: list[Any], number: int, seed: int | None) -> tf.Tensor:
    size = tf.add_n([tf.shape(shard)[0] for shard in data])
    check = _v1.assert_less_equal(number, size, message="There are fewer points than clusters.")
    with tf.control_dependencies([check]):
        highest = tf.cast(size, tf.int64)
        rows = _v1.random_uniform([number], maxval=highest, seed=seed, dtype=tf.int64)
    return tf.gather(tf.concat(data, 0), rows)
