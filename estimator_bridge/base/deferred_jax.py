"""Keeps TensorFlow's import from importing JAX, where that is installed.

Each import of TensorFlow imports TensorFlow Lite's converter, which takes ``jax.jit``: 0.3 s and
110 MB for programs of which hardly any converts a function of JAX. The converter gets a function
of the same name, which imports JAX when it is called.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["jax_left_until_used"]

_ASKS = "tensorflow.lite.python.util"
_JAX = "jax"


@contextlib.contextmanager
def jax_left_until_used() -> Iterator[None]:
    """Lets TensorFlow be imported within the context without JAX."""
    if _JAX in sys.modules or importlib.util.find_spec(_JAX) is None:
        yield
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _Finder:
    """Finds the one module that asks for JAX."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the module's spec, with a loader that shows it a stand-in for JAX."""
        spec = PathFinder.find_spec(name, path, target) if name == _ASKS else None
        if spec is not None and spec.loader is not None:
            _show_stand_in(spec.loader)
        return spec


def _show_stand_in(loader: Any) -> None:
    load = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module  # uncovers the class's method again
        if _JAX in sys.modules:  # another thread has imported it since
            load(module)
            return
        stand_in = ModuleType(_JAX)
        vars(stand_in)["jit"] = _jit
        sys.modules[_JAX] = stand_in
        try:
            load(module)
        finally:
            if sys.modules.get(_JAX) is stand_in:
                del sys.modules[_JAX]

    loader.exec_module = exec_module


def _jit(*args: Any, **kwargs: Any) -> Any:
    """Calls ``jax.jit``."""
    return importlib.import_module(_JAX).jit(*args, **kwargs)
