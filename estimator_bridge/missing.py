"""Names of the original that are not there: using or importing one says so, and what to do.

A module's names are asked for in two ways. ``module.name`` calls its ``__getattr__``, and an
AttributeError lets ``hasattr`` say no. ``from module import name`` swallows that, looks for a
submodule of the name, and ends in a message of Python's own; so there is an import finder, too,
which Python asks last.
"""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from estimator_bridge.errors import MissingImportError, MissingNameError

__all__ = ["missing_getattr"]

# By a module's full name: how users call it, and what it lacks.
_modules: dict[str, tuple[str, Mapping[str, str]]] = {}


def missing_getattr(
    module: str, missing: Mapping[str, str] = MappingProxyType({}), shown: str | None = None
) -> Callable[[str], Any]:
    """Makes a module's ``__getattr__``.

    Args:
      module: its full name.
      missing: names that it lacks, and what there is to say of each.
      shown: how users call the module; by default by its full name.

    Returns:
      A function that raises an AttributeError for every name.
    """
    shown = shown or module
    _modules[module] = (shown, missing)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)

    def __getattr__(name: str) -> Any:
        if name in missing:
            raise MissingNameError(_message(module, name), name=name)
        raise AttributeError(f"module {shown!r} has no attribute {name!r}")

    return __getattr__


def _message(module: str, name: str) -> str:
    shown, missing = _modules[module]
    return f"{shown}.{name} {missing[name]}"


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing, and says why where that is known."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Called where no other finder knows a module.

        Raises:
          MissingImportError: it is no module but one of the missing names.
        """
        del path, target
        module, _, name = fullname.rpartition(".")
        if module in _modules and name in _modules[module][1]:
            raise MissingImportError(_message(module, name), name=fullname)


_finder = _Finder()
