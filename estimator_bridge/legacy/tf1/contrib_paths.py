"""Modules for tensorflow.contrib and the paths below it, backed by estimator_bridge_contrib.

TensorFlow 2 has no modules of these names, so they conflict with nothing. Each loads its contents
on first use.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

from estimator_bridge.base.lazy_namespace import LazyNamespace, loaded_names
from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.errors import MissingImportError, MissingNameError
from estimator_bridge.legacy.tf1.deep_paths import DEEP_MODULES, DEEP_PACKAGES
from estimator_bridge.tf_contrib.namespace_advice import Namespaces
from estimator_bridge.tf_contrib.package import load_contrib

__all__ = ["FUNCTIONS_OF_FILES", "ROOT", "find_contrib"]

ROOT = "tensorflow.contrib"
# Files that the package replaced by their function of the same name.
FUNCTIONS_OF_FILES = {"framework.python.ops.arg_scope"}


def find_contrib() -> None:
    """Makes ``tensorflow.contrib`` importable, with its namespaces and their old files' paths."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    # If another module than the program's imports it, this error says what to use.
    missing_getattr(ROOT, Namespaces(), "tf.contrib")
    # Created directly, because an import would set an attribute of the real tensorflow.
    if ROOT not in sys.modules:
        sys.modules[ROOT] = importlib.util.module_from_spec(
            importlib.machinery.ModuleSpec(ROOT, _Finder(), is_package=True)
        )


class _Contrib(LazyNamespace):
    """tf.contrib, one of its namespaces, or a module that represents one of their files.

    Args:
      name: its full name, below tensorflow.contrib.
    """

    __slots__ = ("_below",)

    def __init__(self, name: str):
        super().__init__(name, "Stands in for a module of tf.contrib.")
        self._below = name[len(ROOT) + 1 :]
        self.__path__: list[str] = []

    @property
    def __all__(self) -> list[str]:
        return list(self._namespace().__all__) if self._below else sorted(dir(self._namespace()))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = f"{self._below}.{name}".lstrip(".")
        if path in DEEP_PACKAGES or path in DEEP_MODULES - FUNCTIONS_OF_FILES:
            return importlib.import_module(f"{ROOT}.{path}")
        namespace = self._namespace()
        if not self._below:
            getattr(namespace, name)  # fails with advice
            return importlib.import_module(f"{ROOT}.{name}")
        value = self._look_up(name, namespace)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Python's import sets a module as an attribute of its package.
        if not (isinstance(value, _Contrib) and value._below in FUNCTIONS_OF_FILES):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__all__, *_modules_below(self._below), *loaded_names(self)})

    def _namespace(self) -> ModuleType:
        if not self._below:
            return load_contrib()
        return _namespaces()[self._below.partition(".")[0]].load()

    def _look_up(self, name: str, namespace: ModuleType) -> Any:
        try:
            for place in self._places(namespace):
                try:
                    return getattr(place, name)
                except MissingNameError:
                    raise
                except AttributeError:
                    continue
            advice = self._said_of_the_file(namespace)
        except MissingImportError as error:  # it belongs to a package that is not installed
            raise MissingNameError(str(error), name=name) from error
        label = f"tf.contrib.{self._below.partition('.')[0]}"
        anyway = (
            f"{label}.{name} is not supported. `estimator-bridge run --list-supported` lists the "
            f"supported names of {label}."
        )
        raise MissingNameError(advice or anyway, name=name)

    def _said_of_the_file(self, namespace: ModuleType) -> str | None:
        """Returns a namespace's advice on one of its old files that is missing as a whole."""
        package, _, file = self._below.rpartition(".")
        try:
            if package:
                getattr(namespace, file)
        except MissingNameError as error:
            return str(error)
        except AttributeError:
            pass
        return None

    def _places(self, namespace: ModuleType) -> Iterator[ModuleType]:
        """Yields where to look up a name: a module named like the old file, then the namespace."""
        parts = self._below.split(".")
        inner = ".".join([parts[0], *parts[-2:]])  # such as learn.datasets.base
        if inner.rpartition(".")[0] in _namespaces():
            package = _namespaces()[inner.rpartition(".")[0]].load()
            file = getattr(package, parts[-1], None)
            yield file if isinstance(file, ModuleType) else package
        elif len(parts) > 1:
            own = f"{namespace.__name__}.{parts[-1]}"
            if PathFinder.find_spec(own, loaded_names(namespace).get("__path__", [])):
                yield importlib.import_module(own)
            else:  # it may belong to another package, such as tf_slim
                file = getattr(namespace, parts[-1], None)
                if isinstance(file, ModuleType):
                    yield file
        yield namespace


def _namespaces() -> dict[str, Any]:
    """Returns the namespaces of tf.contrib, whose tables are read when a program uses one."""
    return load_contrib("namespaces").NAMESPACES


def _modules_below(path: str) -> Iterator[str]:
    """Yields the names of the old files and folders directly below one."""
    for module in (*DEEP_PACKAGES, *(DEEP_MODULES - FUNCTIONS_OF_FILES)):
        folder, _, name = module.rpartition(".")
        if path and folder == path:
            yield name


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a current or former module below tensorflow.contrib; else None."""
        del path, target
        if not fullname.startswith(ROOT):
            return None
        below = fullname[len(ROOT) + 1 :]
        if below and "." not in below:
            if below not in _namespaces():
                return None
        elif below and below not in DEEP_PACKAGES and below not in DEEP_MODULES:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Makes the stand-in."""
        return _Contrib(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: names are looked up on first use."""
