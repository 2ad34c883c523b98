"""Modules whose names refer to this library's objects and are loaded on first use."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any

from estimator_bridge.base.lazy_namespace import LazyNamespace, loaded_names
from estimator_bridge.base.missing_names import missing_getattr

__all__ = ["LazyModule"]


class LazyModule(LazyNamespace):
    """A module that stands in for one of the original's.

    Args:
      name: its full name.
      targets: the paths of its objects by name: "package.module.object" or "package.module".
      missing: the advice for users, by missing name.
      public_name: the name that messages use; by default its full name.
      submodules: the modules below it, which are its attributes too.
    """

    __slots__ = ("_fail", "_submodules", "_targets")

    def __init__(
        self,
        name: str,
        targets: Mapping[str, str],
        missing: Mapping[str, str],
        public_name: str | None = None,
        submodules: Collection[str] = (),
    ):
        super().__init__(name, f"Stands in for a module of tf.estimator: {', '.join(targets)}.")
        self.__all__ = [target for target in targets if not target.startswith("_")]
        self.__path__: list[str] = []  # a package, so that finders look for its missing names
        self._targets = dict(targets)
        self._submodules = frozenset(submodules)
        self._fail = missing_getattr(name, missing, public_name)

    def __getattr__(self, name: str) -> Any:
        if name not in self._targets:
            if name in self._submodules:
                return importlib.import_module(f"{self.__name__}.{name}")
            return self._fail(name)
        value = _load(self._targets[name])
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        names = {name for name in loaded_names(self) if not name.startswith("__")}
        return sorted({*self._targets, *self._submodules, *names})


def _load(path: str) -> Any:
    place, _, name = path.rpartition(".")
    package = importlib.import_module(place)
    try:
        return getattr(package, name)
    except AttributeError:
        pass
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        raise AttributeError(f"module {place!r} has no attribute {name!r}") from error
