"""Loads, from the checkout, the modules of tf.contrib that only its tests import."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

from parity.contrib.files import ROOT, SUPPORT

__all__ = ["provide_support"]

_TOP = "tensorflow.contrib."


def provide_support(checkout: str) -> None:
    """Makes the modules importable."""
    sys.meta_path.insert(0, _Finder(os.path.join(checkout, ROOT)))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, folder: str):
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        below = fullname[len(_TOP) :]
        if fullname.startswith(_TOP) and below in SUPPORT:
            source = os.path.join(self._folder, *below.split(".")) + ".py"
            return importlib.util.spec_from_file_location(
                fullname, source, loader=_Program(fullname, source)
            )
        is_package = any(module.startswith(below + ".") for module in SUPPORT) and "." in below
        if is_package and below not in _packages_of_the_library():
            return importlib.machinery.ModuleSpec(fullname, _Package(), is_package=True)
        return None


def _packages_of_the_library() -> frozenset[str]:
    """Returns the packages below tf.contrib that are there without a checkout."""
    try:
        from estimator_bridge.legacy.tf1.deep_paths import DEEP_PACKAGES
    except ImportError:  # under TensorFlow 1.15.5
        return frozenset()
    return frozenset(DEEP_PACKAGES)


class _Program(importlib.machinery.SourceFileLoader):
    """Loads a module by ``exec``, which this library replaces: "tensorflow" is TensorFlow 1."""

    def exec_module(self, module: Any) -> None:
        """Runs the module."""
        code = compile(self.get_data(self.path), self.path, "exec", dont_inherit=True)
        exec(code, vars(module))


class _Package(importlib.abc.Loader):
    """Loads a package between a namespace and a module of tests."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leaves it to Python."""

    def exec_module(self, module: Any) -> None:
        """Does nothing: a package of tests has no names."""
