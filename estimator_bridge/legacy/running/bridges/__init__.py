"""Compatibility with removed APIs besides TensorFlow's: Python 2's, NumPy's and others.

These bridges are active only while a program runs under `estimator-bridge run`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

from estimator_bridge.legacy.running.bridges.python2 import BUILTINS, MODULES
from estimator_bridge.legacy.running.bridges.python312 import distutils_version, imp
from estimator_bridge.legacy.running.bridges.restored_names import MENDED, restore_standard_library

__all__ = ["BUILTINS", "prepare", "restore_standard_library"]


# By full name: functions that put modules missing from newer Pythons into sys.modules.
_REMOVED: dict[str, Callable[[], ModuleType]] = {
    "distutils": distutils_version,
    "distutils.version": distutils_version,
    "imp": imp,
}
_modules: dict[str, ModuleType] = {}


def prepare(name: str) -> ModuleType | None:
    """Prepares a module that a program is about to import.

    Args:
      name: its full name.

    Returns:
      A module of Python 2 that only the program sees; None if Python's import should proceed.
    """
    if name in MODULES or name in _REMOVED:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            if name in MODULES:
                return _modules.setdefault(name, _modules.get(name) or MODULES[name]())
            _REMOVED[name]()
    top = name.partition(".")[0]
    if top in MENDED:
        MENDED[top](importlib.import_module(top))
    return None
