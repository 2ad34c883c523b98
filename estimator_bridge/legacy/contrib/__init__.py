"""tf.contrib, as far as programs that are run here use it: each namespace is a module here.

A namespace is loaded when it is first used. One that is not there fails where it is used, and says
what to use instead.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from estimator_bridge.legacy.contrib import advice
from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["NAMESPACES"]

# The other modules here are what the namespaces share.
NAMESPACES = advice.OF_TF1 & {found.name for found in pkgutil.iter_modules(__path__)}

_fail = missing_getattr(__name__, advice.Namespaces(), "tf.contrib")


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return importlib.import_module(f"{__name__}.{name}")
    return _fail(name)


def __dir__() -> list[str]:
    return sorted(NAMESPACES)
