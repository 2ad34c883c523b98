"""What old programs break on besides TensorFlow: Python 2's names, NumPy's removed ones, others.

A bridge is there only while a program runs under `estimator-bridge run`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

from estimator_bridge.legacy.running.bridges.python2 import BUILTINS, MODULES
from estimator_bridge.legacy.running.bridges.python312 import distutils_version, imp
from estimator_bridge.legacy.running.bridges.removed import MENDED, mend_standard_library

__all__ = ["BUILTINS", "mend_standard_library", "prepare"]


# By full name: what puts a module, which newer Pythons have no more, into sys.modules.
_REMOVED: dict[str, Callable[[], ModuleType]] = {
    "distutils": distutils_version,
    "distutils.version": distutils_version,
    "imp": imp,
}
_made: dict[str, ModuleType] = {}


def prepare(name: str) -> ModuleType | None:
    """Sees to a module that a program is about to import.

    Args:
      name: its full name.

    Returns:
      A module of Python 2, which is there for the program alone; None where Python's import is to
      go on.
    """
    if name in MODULES or name in _REMOVED:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            if name in MODULES:
                return _made.setdefault(name, _made.get(name) or MODULES[name]())
            _REMOVED[name]()
    top = name.partition(".")[0]
    if top in MENDED:
        MENDED[top](importlib.import_module(top))
    return None
