"""Finds the statements of a model_fn that make its optimizer in all modes."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from estimator_bridge.migrate.eb_model.data_flow import reads, sets, slice_for

__all__ = ["only_for_optimizer"]


def only_for_optimizer(
    without_labels: Sequence[ast.stmt], train: Sequence[ast.stmt], optimizer: ast.expr
) -> set[int]:
    """Returns the ids of statements that belong to the optimizer and not to inference.

    A short model_fn makes its optimizer in all modes and returns a single spec. Those statements
    read no labels, as those of inference; but they read no features either, and nothing of
    inference needs them. What is computed from them alone, such as a learning rate for a metric,
    comes with them.

    Args:
      without_labels: the statements of all modes that do not depend on the labels, in order.
      train: the statements of training before the optimizer's `minimize`.
      optimizer: the optimizer's expression.
    """
    slice_ids = {id(s) for s in slice_for(train, reads(optimizer))[0]}
    of_features = {"features"}
    of_optimizer: set[str] = set()
    candidates: list[ast.stmt] = []
    for statement in without_labels:
        if reads(statement) & of_features:
            of_features |= sets(statement)
        elif id(statement) in slice_ids or reads(statement) & of_optimizer:
            of_optimizer |= sets(statement)
            candidates.append(statement)
    while True:
        others = [s for s in without_labels if s not in candidates]
        inputs = set().union(*map(reads, others), set())
        remaining = [s for s in candidates if not sets(s) & inputs]
        if len(remaining) == len(candidates):
            return {id(s) for s in candidates}
        candidates = remaining
