"""The parts of tf.contrib that programs use, one module per namespace.

`estimator_bridge.contrib` has most of them. Those for estimators, TPUs and strategies are files
here. A namespace is loaded on first use. An unsupported one raises an error on use that says what
to use instead.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any

from estimator_bridge.contrib.namespace_advice import Namespaces
from estimator_bridge.lazy_namespace import make_lazy
from estimator_bridge.legacy.contrib.namespaces import NAMESPACES as _ALL
from estimator_bridge.missing_names import missing_getattr

__all__ = ["NAMESPACES"]

NAMESPACES = frozenset(name for name in _ALL if "." not in name)

make_lazy(__name__)
_fail = missing_getattr(__name__, Namespaces(), "tf.contrib")


def __getattr__(name: str) -> Any:
    return _ALL[name].load() if name in NAMESPACES else _fail(name)


def __dir__() -> list[str]:
    return sorted(NAMESPACES)


class _OfContrib(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of `estimator_bridge.contrib` below this package too."""

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a namespace, or of a module of one, found there; otherwise None."""
        del path, target
        namespace = fullname[len(__name__) + 1 :].partition(".")[0]
        is_below = fullname.startswith(f"{__name__}.") and namespace in NAMESPACES
        if not is_below or _ALL[namespace].module.startswith(__name__):
            return None
        try:
            there = importlib.util.find_spec(_there(fullname))
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(fullname, self) if there else None

    def exec_module(self, module: ModuleType) -> None:
        """Makes the import return the module itself, not a second one from its file."""
        sys.modules[module.__name__] = importlib.import_module(_there(module.__name__))


def _there(name: str) -> str:
    return f"estimator_bridge.contrib{name[len(__name__) :]}"


sys.meta_path.insert(0, _OfContrib())  # before the finder of missing names
