"""Paths at which tf.contrib's modules were before they had a package of their own."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any

from estimator_bridge.tf_contrib.package import load_contrib

__all__ = ["lead_to_contrib"]


def lead_to_contrib(path: str) -> None:
    """Makes a package, and the paths below it, lead to `estimator_bridge_contrib`.

    An import of such a path returns the module of that package itself, not a second one from its
    file. So classes are equal and pickles work, whichever path a program or an old pickle names.

    Args:
      path: the full name of the package, which its file passes as ``__name__``.

    Raises:
      MissingImportError: estimator_bridge_contrib is not installed.
    """
    sys.modules[path] = load_contrib()
    _finder.paths.add(path)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)  # before Python's own, which would find the files again


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self) -> None:
        self.paths: set[str] = set()

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a module below one of the paths; None for others."""
        del path, target
        module = self._below(fullname)
        if module is None:
            return None
        package = load_contrib().__name__
        try:
            there = importlib.util.find_spec(f"{package}.{module}")
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(fullname, self) if there else None

    def exec_module(self, module: ModuleType) -> None:
        """Makes the import return the module of the package."""
        sys.modules[module.__name__] = load_contrib(self._below(module.__name__) or "")

    def _below(self, fullname: str) -> str | None:
        for path in self.paths:
            if fullname.startswith(f"{path}."):
                return fullname[len(path) + 1 :]
        return None


_finder = _Finder()
