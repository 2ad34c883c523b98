"""A finder that adds names to modules of other packages when they are imported."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["ModuleExtender"]


class ModuleExtender(importlib.abc.MetaPathFinder):
    """Extends modules after their own code has run.

    Args:
      is_extended: whether a module of this full name is extended.
      extend: called with the module.
    """

    def __init__(self, is_extended: Callable[[str], bool], extend: Callable[[ModuleType], object]):
        self._is_extended, self._extend = is_extended, extend

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of such a module, with a loader that extends it; otherwise None."""
        del target
        if not self._is_extended(fullname):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path, self._extend)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, extend: Callable[[ModuleType], object]):
        super().__init__(fullname, path)
        self._extend = extend

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module's code, then extends it."""
        super().exec_module(module)
        self._extend(module)
