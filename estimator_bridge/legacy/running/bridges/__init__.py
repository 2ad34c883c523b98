"""What old programs break on besides TensorFlow: Python 2's names, NumPy's removed ones, others.

A bridge is there only while a program runs under `estimator-bridge run`.
"""

from __future__ import annotations

import importlib
from typing import Any

from estimator_bridge.legacy.running.bridges.python2 import BUILTINS, MODULES
from estimator_bridge.legacy.running.bridges.removed import MENDED, mend_standard_library

__all__ = ["BUILTINS", "mend_standard_library", "module"]


def module(name: str, fromlist: Any) -> Any:
    """Sees to a module that a program's `import` names.

    Args:
      name: its full name.
      fromlist: the names that are imported from it.

    Returns:
      The module that takes its place; None where Python's own import is to be used.
    """
    if name in MODULES:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            return MODULES[name]()
    top = name.partition(".")[0]
    if top in MENDED:
        real = importlib.import_module(top)
        MENDED[top](real)
    return None
