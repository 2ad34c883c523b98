"""Objects of programs with just the public methods, for the real tf.estimator and this library."""

from __future__ import annotations

import tempfile

from goldens.duck_types import heads, hooks, inputs, model_parts, runs, savers
from goldens.duck_types.models import CASES

__all__ = ["CASES", "MODULES", "run"]

MODULES = (savers, hooks, model_parts, heads, inputs, runs)  # each registers its cases


def run(name, estimator):
    """Returns what a case sees.

    Args:
      name: of one of CASES.
      estimator: tf.estimator, or its replacement.
    """
    with tempfile.TemporaryDirectory() as folder:
        return CASES[name](estimator, folder)
