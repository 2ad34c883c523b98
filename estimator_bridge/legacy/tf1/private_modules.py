"""Moved names of tensorflow.python that programs import by their old paths.

Names are only looked up here for programs that ask for them: TensorFlow's own modules import each
other as before.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import operator
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from estimator_bridge.base.lazy_namespace import LazyNamespace, loaded_names
from estimator_bridge.errors import MissingImportError, MissingNameError
from estimator_bridge.legacy.extended_modules import ModuleExtender
from estimator_bridge.legacy.tf1.private_names import (
    MODULES,
    NAMES,
    NAMESPACES,
    REMOVED,
    ROOT,
    V1_NAMES,
    advice_on,
    place_of,
)

__all__ = [
    "bind_v1_names",
    "find_private_names",
    "moved_module",
    "moved_name",
    "with_old_names",
]


def moved_module(name: str) -> ModuleType | None:
    """Returns the replacement of a moved module.

    Args:
      name: the old module's full name.

    Returns:
      The new module; None for a module that has not moved, or was removed.
    """
    if not name.startswith(ROOT) or advice_on(name) is not None:
        return None
    below = name[len(ROOT) :]
    module = _module_below(below)
    return _stand_in(name) if module is not None and below in _MODULES_OF_ROWS else module


def _module_below(below: str) -> ModuleType | None:
    old = next((prefix for prefix in _prefixes(below) if prefix in MODULES), None)
    return None if old is None else _load_module(MODULES[old] + below[len(old) :])


def moved_name(name: str) -> Any:
    """Returns the object to which a full name has moved.

    Raises:
      AttributeError: the table has no place for the name, or this TensorFlow lacks that place.
    """
    place = place_of(name)
    if place is None:
        raise AttributeError(f"the table has no place for {name}")
    try:
        return _load(place)
    except ModuleNotFoundError as error:
        raise AttributeError(f"this TensorFlow has no {place}") from error


def bind_v1_names() -> None:
    """Gives modules that copied TF2's names when they were imported those of TF1.

    ``tf.disable_v2_behavior()`` changes the modules where the names are defined only.
    """
    for below, place in V1_NAMES.items():
        module, _, name = f"{ROOT}{below}".rpartition(".")
        setattr(importlib.import_module(module), name, _load(place))


@functools.cache
def _stand_in(name: str) -> ModuleType:
    return _MovedModule(name)


class _MovedModule(LazyNamespace):
    """A module that has moved, while some of its names have other places.

    Args:
      name: its old full name.
    """

    __slots__ = ("_below", "_find")

    def __init__(self, name: str):
        super().__init__(name, f"Stands in for {name}.")
        self.__path__: list[str] = []  # a package, so that finders look for modules below it
        self._below = name[len(ROOT) :]
        self._find = _finder_of(name)

    def __getattr__(self, name: str) -> Any:
        try:
            value = moved_name(f"{self.__name__}.{name}")
        except AttributeError:
            value = self._find_elsewhere(name)
        setattr(self, name, value)
        return value

    def _find_elsewhere(self, name: str) -> Any:
        try:
            return getattr(_module_below(self._below), name)
        except AttributeError:
            return self._find(name)

    def __dir__(self) -> list[str]:
        names = (name.rpartition(".") for name in NAMES)
        rows = {name for module, _, name in names if module == self._below}
        return sorted({*rows, *dir(_module_below(self._below)), *loaded_names(self)})

    def __reduce__(self) -> tuple[Callable[..., ModuleType], tuple[str, ...]]:
        """Pickles the module by its old name."""
        return _stand_in, (self.__name__,)


def _prefixes(name: str) -> list[str]:
    """Returns the prefixes of a name, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def with_old_names(module: Any) -> Any:
    """Lets a module of tensorflow.python find names that it had in TF1.

    Args:
      module: the module; any other object is returned unchanged.

    Returns:
      The same module. Names that it has are not affected; names that it lacks are looked up in the
      table, and then in TensorFlow's public API.
    """
    name = getattr(module, "__name__", "")
    is_private = isinstance(module, ModuleType) and f"{name}.".startswith(ROOT)
    if is_private and name not in _with_old_names:
        _with_old_names.add(name)
        # This library's modules find their own names, some of which belong to their submodules.
        if not hasattr(type(module), "__getattr__"):
            find, own = _finder_of(name), vars(module).get("__getattr__")
            module.__getattr__ = find if own is None else _after(own, find)
    return module


_with_old_names: set[str] = set()
_MODULES_OF_PLACES = frozenset(name.rpartition(".")[0] for name in NAMES)
_MODULES_OF_ROWS = _MODULES_OF_PLACES | {name.rpartition(".")[0] for name in REMOVED}


def _after(first: Callable[[str], Any], second: Callable[[str], Any]) -> Callable[[str], Any]:
    """Returns a module's ``__getattr__`` that asks two functions, one after the other."""

    def __getattr__(name: str) -> Any:
        try:
            return first(name)
        except (AttributeError, ImportError):
            return second(name)

    return __getattr__


def _finder_of(module: str) -> Callable[[str], Any]:
    below = module[len(ROOT) :]
    fitting = [start for start in NAMESPACES if f"{below}.".startswith((f"{start}.", f"{start}_"))]
    namespaces = [NAMESPACES[start] for start in sorted(fitting, key=len, reverse=True)]
    # The names of tensorflow.python itself are packages, not public names: estimator, layers.
    namespaces += [""] if below else []

    def __getattr__(name: str) -> Any:
        full_name = f"{module}.{name}"
        try:
            return moved_name(full_name)
        except AttributeError:
            pass
        is_dunder = name.startswith("__") and name.endswith("__")
        advice = None if is_dunder or _is_file(full_name) else advice_on(full_name)
        if advice is not None:
            raise MissingNameError(f"{full_name} is not supported. {advice}", name=name)
        if not name.startswith("_") and not _is_file(full_name):
            import tensorflow.compat.v1 as tf1

            for namespace in namespaces:
                try:
                    return operator.attrgetter(f"{namespace}.{name}".lstrip("."))(tf1)
                except AttributeError:
                    continue
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__


def _is_file(name: str) -> bool:
    """Returns whether a name is a module of TensorFlow that nothing has imported yet."""
    package = sys.modules.get(name.rpartition(".")[0])
    folders = getattr(package, "__path__", None)
    return bool(folders) and importlib.machinery.PathFinder.find_spec(name, folders) is not None


def _load(place: str) -> Any:
    module, _, name = place.rpartition(".")
    if module.partition(".")[0] == "tf1":
        import tensorflow.compat.v1 as tf1

        return operator.attrgetter(place[len("tf1.") :])(tf1)
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        return importlib.import_module(place)


def _load_module(path: str) -> ModuleType | None:
    if path.startswith("tf1."):
        import tensorflow.compat.v1 as tf1

        try:
            return operator.attrgetter(path[len("tf1.") :])(tf1)
        except AttributeError:
            return None
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path and not path.startswith(f"{error.name}."):
            raise
    return None


def find_private_names() -> None:
    """Lets programs that plain Python runs import the names of the table.

    Modules that TensorFlow has keep its names; they find the rows that they lack. A module that
    TensorFlow lacks is the one that it has become.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    for below in _MODULES_OF_ROWS:
        module = sys.modules.get((ROOT + below).rstrip("."))
        if module is not None:
            with_old_names(module)
    sys.meta_path.append(_Finder())
    sys.meta_path.insert(0, ModuleExtender(_has_rows, with_old_names))


def _has_rows(fullname: str) -> bool:
    return fullname.startswith(ROOT) and fullname[len(ROOT) :] in _MODULES_OF_ROWS


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: finds modules of the table that TensorFlow lacks."""

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a module that has moved; None for other names.

        Raises:
          MissingImportError: the module, or the name in one, was removed; it says what to write.
        """
        del path, target
        if not fullname.startswith(ROOT):
            return None
        below = fullname[len(ROOT) :]
        # Some names of a module that was removed have places.
        if below in _MODULES_OF_PLACES or moved_module(fullname) is not None:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        advice = advice_on(fullname)
        if advice is not None:
            raise MissingImportError(f"{fullname} is not supported. {advice}", name=fullname)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Makes the stand-in: Python sets attributes on a module that it imports."""
        return _MovedModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: the module's names are looked up when they are used."""
