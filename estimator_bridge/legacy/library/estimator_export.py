"""``estimator_export``: the decorator that made names public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

__all__ = ["estimator_export"]

_T = TypeVar("_T")


class estimator_export:  # the original's name
    """Marks a function or class as public under some names, and returns it.

    Args:
      *args: the names, such as "estimator.Head".
      v1: the names in TF1; by default the same.
    """

    def __init__(self, *args: str, v1: Sequence[str] | None = None):
        self._names = args
        self._names_v1 = tuple(args if v1 is None else v1)

    def __call__(self, func: _T) -> _T:
        """Sets the names as the same attributes of the decorated object as the original did."""
        target: Any = getattr(func, "__func__", func)
        target._estimator_api_names = self._names
        target._estimator_api_names_v1 = self._names_v1
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Does nothing: a constant has no attributes, and the names are not collected."""
