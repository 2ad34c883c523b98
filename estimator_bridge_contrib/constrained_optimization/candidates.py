"""The best of several candidate solutions, such as checkpoints, of a constrained problem."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

__all__ = ["find_best_candidate_distribution", "find_best_candidate_index"]


def find_best_candidate_distribution(
    objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0
) -> np.ndarray:
    """Finds probabilities of candidates with the smallest expected objective.

    In expectation they satisfy the constraints. If that is impossible, they violate them by as
    little as possible, which a bisection finds. The package scipy must be installed. The method is
    Lemma 3 of https://arxiv.org/abs/1804.06500.

    Args:
      objective_vector: the candidates' objectives, of shape [candidates].
      constraints_matrix: the values of their constraints, each satisfied if it is not positive, of
        shape [constraints, candidates].
      epsilon: the distance of the bisection's two bounds from their middle at which it stops.

    Returns:
      The probabilities, of shape [candidates]; at most one more than there are constraints is not
      zero.

    Raises:
      ValueError: the shapes do not match, or epsilon is negative.
      ImportError: SciPy is not installed.
    """
    if epsilon < 0:
        raise ValueError(f"epsilon must be nonnegative, got {epsilon}.")
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    distribution = _best_within(objectives, constraints, 0.0)
    if distribution is not None:
        return distribution
    # A violation of `lower` cannot be reached. One of `upper` can, by a single candidate.
    lower, upper = 0.0, float(np.min(np.max(constraints, axis=0)))
    best = _best_within(objectives, constraints, upper)
    if best is None:
        raise AssertionError(
            f"SciPy found no distribution that violates the constraints by at most {upper}, though "
            "a single candidate does. Look for infinite numbers and for very different magnitudes."
        )
    while True:
        middle = (lower + upper) / 2
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        distribution = _best_within(objectives, constraints, middle)
        if distribution is None:
            lower = middle
        else:
            best, upper = distribution, middle


def _best_within(
    objectives: np.ndarray, constraints: np.ndarray, violation: float
) -> np.ndarray | None:
    """Returns the best distribution with at most some violation; None if there is none."""
    try:
        linprog = importlib.import_module("scipy.optimize").linprog
    except ImportError as error:
        raise ImportError(
            "find_best_candidate_distribution needs SciPy, which is not installed. Run: "
            "pip install scipy"
        ) from error
    count, size = constraints.shape
    solution = linprog(
        objectives,
        A_ub=constraints,
        b_ub=np.full(count, violation),
        A_eq=np.ones((1, size)),
        b_eq=np.ones(1),
        bounds=(0, None),
    )
    return solution.x if solution.success else None


def find_best_candidate_index(
    objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False
) -> int | None:
    """Finds the candidate whose worst rank is the best.

    A candidate has a rank for each constraint, by the amount that violates it; candidates that
    satisfy it share the first rank. Of equal candidates, the one with the smallest objective is
    chosen, and of those the last one. This is the heuristic of section 5.2 of
    https://arxiv.org/abs/1804.06500.

    Args:
      objective_vector: the candidates' objectives, of shape [candidates].
      constraints_matrix: the values of their constraints, each satisfied if it is not positive, of
        shape [constraints, candidates].
      rank_objectives: whether candidates also have a rank by their objective.

    Returns:
      The candidate's position, or None if there are no candidates.

    Raises:
      ValueError: the shapes do not match.
    """
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    ranked = [np.maximum(row, 0) for row in constraints]
    if rank_objectives:
        ranked.append(objectives)
    worst = np.zeros(len(objectives), np.int64)
    for row in ranked:
        worst = np.maximum(worst, np.searchsorted(np.sort(row), row) + 1)
    keys = list(zip(worst.tolist(), objectives.tolist()))
    best = 0
    for index, key in enumerate(keys):
        if key <= keys[best]:
            best = index
    return best if keys else None


def _checked(objective_vector: Any, constraints_matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    objectives, constraints = np.asarray(objective_vector), np.asarray(constraints_matrix)
    if constraints.ndim != 2 or objectives.shape != constraints.shape[1:]:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), for n "
            f"candidates and m constraints, got {objectives.shape} and {constraints.shape}."
        )
    return objectives, constraints
