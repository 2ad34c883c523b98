"""Modules whose names are loaded on first use, and that are like any other module otherwise.

`dir`, `vars`, ``module.__dict__``, ``from module import *`` and `inspect.getmembers` agree: reading
the ``__dict__`` loads the names that `dir` lists. Python itself keeps the dictionary of a module
without reading that attribute, so an import, ``module.name`` and `hasattr` load one name at most.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["LazyNamespace", "loaded_names", "make_lazy"]

_DICT: Any = vars(ModuleType)["__dict__"]


class LazyNamespace(ModuleType):
    """A module that loads its names on first use.

    Its type, or its file, defines ``__getattr__``, and ``__dir__`` for the names that it lists.
    """

    __slots__ = ()

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        names = loaded_names(self)
        for name in dir(self):
            if name not in names:
                try:
                    value = getattr(self, name)
                except (AttributeError, ImportError):  # it needs a package that is not installed
                    continue
                names.setdefault(name, value)
        return names

    def __dir__(self) -> list[str]:
        # ModuleType's own would load all names, because it reads the __dict__.
        names = loaded_names(self)
        return sorted(names["__dir__"]() if "__dir__" in names else names)

    def __reduce__(self) -> tuple[Callable[..., ModuleType], tuple[str, ...]]:
        """Pickles and copies the module by its name."""
        return importlib.import_module, (self.__name__,)


def loaded_names(module: ModuleType) -> dict[str, Any]:
    """Returns a module's own dictionary, without loading the names that it lacks."""
    return _DICT.__get__(module)


def make_lazy(name: str) -> None:
    """Makes a module whose file defines ``__getattr__`` and ``__dir__`` a `LazyNamespace`.

    Args:
      name: the full name of the module, which its file passes as ``__name__``.
    """
    sys.modules[name].__class__ = LazyNamespace
