"""Errors for the original's missing names: each says what to use instead.

Python looks up a module's names in two ways. ``module.name`` calls its ``__getattr__``, and an
AttributeError makes ``hasattr`` return False. ``from module import name`` swallows that error,
looks for a submodule of that name and raises Python's own message; so an import finder, the last
one Python asks, raises a better one.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from estimator_bridge.errors import MissingImportError, MissingNameError

__all__ = ["missing_getattr"]

# By a module's full name: the name users know it by, and its missing names.
_modules: dict[str, tuple[str, Mapping[str, str]]] = {}


def missing_getattr(
    module: str, missing: Mapping[str, str] = MappingProxyType({}), public_name: str | None = None
) -> Callable[[str], Any]:
    """Makes a module's ``__getattr__``.

    Args:
      module: its full name.
      missing: the missing names, and the rest of each one's error message.
      public_name: the name users know the module by; by default its full name.

    Returns:
      A function that raises an AttributeError for every name.
    """
    public_name = public_name or module
    _modules[module] = (public_name, missing)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)

    def __getattr__(name: str) -> Any:
        if name in missing:
            raise MissingNameError(_message(module, name), name=name)
        raise AttributeError(f"module {public_name!r} has no attribute {name!r}")

    return __getattr__


def _message(module: str, name: str) -> str:
    public_name, missing = _modules[module]
    return f"{public_name}.{name} {missing[name]}"


class _Finder(importlib.abc.MetaPathFinder):
    """Finds no module; raises an explanation for missing names."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Called for a module that no other finder knows.

        Raises:
          MissingImportError: fullname is one of the missing names.
        """
        del path, target
        module, _, name = fullname.rpartition(".")
        if module in _modules and name in _modules[module][1]:
            raise MissingImportError(_message(module, name), name=fullname)


_finder = _Finder()
