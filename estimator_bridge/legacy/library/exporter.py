"""Functions of ``exporter``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from estimator_bridge.training.exporters.best import check_compare_fn

__all__ = ["verify_compare_fn_args"]


def verify_compare_fn_args(compare_fn: Callable[..., Any]) -> None:
    """Checks the arguments of a BestExporter's compare_fn; see `check_compare_fn`."""
    check_compare_fn(compare_fn)
