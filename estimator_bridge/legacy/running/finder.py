"""Finds the program's modules as Python does, and sets the imports of their dialect."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from types import ModuleType
from typing import Any

from estimator_bridge.base.quiet_start import quietly
from estimator_bridge.base.shown_progress import show_while
from estimator_bridge.legacy.running.dialect_choice import DialectChoice
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.importing import builtins_for
from estimator_bridge.legacy.running.sources import (
    FOREIGN,
    STANDARD,
    is_installed,
    mentions_tensorflow,
    module_verdict,
)
from estimator_bridge.legacy.running.tensorflow_setup import prepare_tensorflow
from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS

__all__ = ["ProgramFinder"]

# Packages next to this library's in its repository, which an editable installation adds to the
# path, and their folder. If the program has a folder of the same name, it belongs to the program,
# although Python would prefer any package of that name to a folder without an __init__.py.
_BESIDE = frozenset({"flags", "models"})
_PACKAGES = tuple(os.path.join(os.path.realpath(folder), "") for folder in LIBRARY_FOLDERS)
_HERE = os.path.dirname(os.path.dirname(_PACKAGES[0]))


class ProgramFinder(importlib.abc.MetaPathFinder):
    """The first of Python's finders while a program runs.

    Args:
      choice: chooses the dialects of the program's files.
    """

    def __init__(self, choice: DialectChoice):
        self._choice = choice
        # Installed packages that belong to the program.
        self.packages: set[str] = set()

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a module of the program, or of TensorFlow itself; otherwise None."""
        top = fullname.partition(".")[0]
        if fullname == "tensorflow":
            return self._tensorflow(path, target)
        if top in FOREIGN or top in STANDARD:
            return None
        spec = self._python_finds(fullname, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return spec
        file = spec.loader.path
        if not self.is_of_program(top, file):
            return spec
        spec.loader = _ProgramLoader(fullname, file, self._choice)
        return spec

    def is_of_program(self, top: str, file: str) -> bool:
        """Returns whether a file belongs to the program or to an installed TF1 program.

        Args:
          top: the name of the top-level package or module.
          file: the file.
        """
        if is_installed(file):
            return self._speaks_tf1(top, file)
        return not os.path.realpath(file).startswith(_PACKAGES)

    def _python_finds(
        self, fullname: str, path: Any, target: Any
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in _BESIDE:
            elsewhere = [folder for folder in sys.path if os.path.realpath(folder) != _HERE]
            spec = importlib.machinery.PathFinder.find_spec(fullname, elsewhere, target)
            if spec is not None:
                return spec
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None

    def _speaks_tf1(self, top: str, file: str) -> bool:
        """Returns whether an installed file belongs to a package that is a TF1 program."""
        if top in self.packages:
            return True
        if mentions_tensorflow(file) and module_verdict(file).dialect is Dialect.TF1:
            self.packages.add(top)
            return True
        return False

    def _tensorflow(self, path: Any, target: Any) -> importlib.machinery.ModuleSpec | None:
        spec = self._python_finds("tensorflow", path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _TensorFlowLoader(spec.loader, self._choice)
        return spec


class _ProgramLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of the program with the builtins of its dialect."""

    def __init__(self, fullname: str, path: str, choice: DialectChoice):
        super().__init__(fullname, path)
        self._choice = choice

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module's code."""
        vars(module)["__builtins__"] = builtins_for(self._choice.enter(self.path))
        super().exec_module(module)


class _TensorFlowLoader(importlib.abc.Loader):
    """Loads TensorFlow with its own loader, then prepares it."""

    def __init__(self, loader: Any, choice: DialectChoice):
        self._loader, self._choice = loader, choice

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Delegates to TensorFlow's own loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Runs TensorFlow's own code, then installs the names that it lacks."""
        with show_while("Loading TensorFlow"), quietly():
            self._loader.exec_module(module)
            module.__spec__.loader = module.__loader__ = self._loader  # type: ignore[union-attr]
            prepare_tensorflow(self._choice.graphs, self._choice.main is Dialect.TF1)
