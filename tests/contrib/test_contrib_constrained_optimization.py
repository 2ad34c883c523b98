"""tf.contrib.constrained_optimization beside NumPy and SciPy, and in an Estimator's model_fn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import estimator_bridge as eb
from estimator_bridge_contrib import constrained_optimization as tfco
from estimator_bridge_contrib.constrained_optimization import projections

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
_NUMBERS = st.floats(-3, 3, width=32)
KINDS = (
    "AdditiveExternalRegretOptimizer",
    "AdditiveSwapRegretOptimizer",
    "MultiplicativeSwapRegretOptimizer",
)


def arrays(*shape):
    size = int(np.prod(shape))
    lists = st.lists(_NUMBERS, min_size=size, max_size=size)
    return lists.map(lambda values: np.reshape(values, shape).astype(np.float64))


def simplex(values, radius):
    """The nearest vector of nonnegative numbers with a given sum, by sorting."""
    ordered = np.sort(values)[::-1]
    shifts = (np.cumsum(ordered) - radius) / np.arange(1, len(values) + 1)
    return np.maximum(values - shifts[np.nonzero(ordered > shifts)[0][-1]], 0)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5).flatmap(arrays), st.floats(0.1, 4))
def test_multipliers_are_projected_to_the_nearest(values, radius):
    got = projections.nearest_multipliers(tf.constant(values), radius).numpy()
    positive = np.maximum(values, 0)
    expected = positive if positive.sum() <= radius else simplex(values, radius)
    np.testing.assert_allclose(got, expected, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4).flatmap(lambda size: arrays(size, size)))
def test_a_matrix_is_projected_to_probabilities(values):
    got = projections.nearest_stochastic_matrix(tf.constant(values)).numpy()
    expected = np.stack([simplex(column, 1) for column in values.T], 1)
    np.testing.assert_allclose(got, expected, atol=1e-9)
    logs = projections.nearest_log_stochastic_matrix(tf.constant(values)).numpy()
    np.testing.assert_allclose(np.exp(logs).sum(0), 1)
    np.testing.assert_allclose(logs - values, np.broadcast_to((logs - values)[:1], values.shape))


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4).flatmap(lambda size: arrays(size, size)))
def test_the_stationary_distribution(values):
    matrix = np.exp(values) / np.exp(values).sum(0)
    got = projections.principal_eigenvector(tf.constant(matrix), 1e-12, 10000).numpy()
    np.testing.assert_allclose(matrix @ got, got, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(got), 1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (tf.constant([1, 2]), "floating-point dtype"),
        (tf.constant([[1.0]]), r"1 dimension\(s\)"),
    ],
)
def test_other_multipliers_are_refused(value, message):
    with pytest.raises(ValueError, match=message):
        projections.nearest_multipliers(value, 1.0)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((2, 3), "square"), (None, "known shape"), ((None, None), "fully-known"), ((2,), "2 dim")],
)
def test_other_matrices_are_refused(shape, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        projections.nearest_stochastic_matrix(v1.placeholder(tf.float32, shape))


@pytest.mark.parametrize("options", [{"epsilon": 0.0}, {"maximum_iterations": 0}])
def test_iterations_without_an_end_are_refused(options):
    with pytest.raises(ValueError, match="strictly positive"):
        projections.principal_eigenvector(tf.eye(2), **options)


# Few values, so that there are ties.
_FEW = st.sampled_from([-1.0, 0.0, 0.5, 2.0])


@settings(max_examples=100)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(
            st.lists(_FEW, min_size=n, max_size=n),
            st.lists(st.lists(_FEW, min_size=n, max_size=n), min_size=1, max_size=3),
        )
    ),
    st.booleans(),
)
def test_the_best_candidate_has_the_best_worst_rank(tables, rank_objectives):
    objectives, constraints = map(np.array, tables)
    rows = [np.maximum(row, 0) for row in constraints] + [objectives] * rank_objectives
    worst = np.max([stats.rankdata(row, method="min") for row in rows], 0)
    best = max(range(len(worst)), key=lambda i: (-worst[i], -objectives[i], i))
    assert tfco.find_best_candidate_index(objectives, constraints, rank_objectives) == best


@settings(max_examples=20, deadline=None)
@given(arrays(4), arrays(2, 4))
def test_no_mixture_of_two_candidates_is_better(objectives, constraints):
    distribution = tfco.find_best_candidate_distribution(objectives, constraints, epsilon=1e-6)
    violation = max(0.0, np.max(constraints @ distribution))
    assert distribution.min() >= -1e-6 and np.isclose(distribution.sum(), 1)
    for i, j in itertools.combinations(range(4), 2):
        for share in (0.0, 0.3, 0.5, 1.0):
            mixture = np.zeros(4)
            mixture[i], mixture[j] = share, 1 - share
            other = np.max(constraints @ mixture)
            assert other >= violation - 1e-5 or violation <= 1e-6
            if other <= violation:
                assert objectives @ mixture >= objectives @ distribution - 1e-5


def test_scipy_is_needed_for_a_distribution_only(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    assert tfco.find_best_candidate_index([1.0, 2.0], [[1.0, 0.0]]) == 1
    with pytest.raises(ImportError, match="pip install scipy"):
        tfco.find_best_candidate_distribution([1.0, 2.0], [[1.0, 0.0]])


class Plane(tfco.ConstrainedMinimizationProblem):
    """The point next to (1, 2) with a sum of at most 1, which is (0, 1)."""

    def __init__(self, point):
        self._point = point

    @property
    def objective(self):
        return tf.reduce_sum(tf.square(self._point - [1.0, 2.0]))

    @property
    def constraints(self):
        return tf.stack([tf.reduce_sum(self._point) - 1.0])


@pytest.mark.parametrize("first", [None, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_finds_the_constrained_minimum(tmp_path, kind, first):
    def model_fn(features, mode):
        point = v1.get_variable("point", [2], initializer=v1.zeros_initializer())
        problem = Plane(point)
        optimizer = getattr(tfco, kind)(v1.train.GradientDescentOptimizer(0.1))
        step = optimizer.minimize(problem, first, v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=problem.objective, train_op=step)

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: tf.data.Dataset.from_tensors(1.0).repeat(), steps=300)
    np.testing.assert_allclose(estimator.get_variable_value("point"), [0, 1], atol=0.02)
    assert estimator.get_variable_value("global_step") == 300
    [state] = set(estimator.get_variable_names()) - {"point", "global_step"}
    assert state.endswith("regret_optimizer_state")
