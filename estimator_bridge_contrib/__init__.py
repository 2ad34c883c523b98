"""The supported parts of TensorFlow 1's tf.contrib.

The tree mirrors tf.contrib's: each namespace is a module here. The modules and their names are
loaded on first use. An unsupported one raises an error on use that says what to use instead.

The file MANIFEST lists the modules of `estimator_bridge` that this package uses. Nothing there
imports this package: `estimator_bridge.tf_contrib` opens it by name.
"""

from __future__ import annotations

from types import ModuleType

from estimator_bridge.base.lazy_namespace import make_lazy
from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.tf_contrib.namespace_advice import Namespaces
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__ = ["NAMESPACES"]

make_lazy(__name__)
_fail = missing_getattr(__name__, Namespaces(), "tf.contrib")


def __getattr__(name: str) -> ModuleType:
    return NAMESPACES[name].load() if name in NAMESPACES else _fail(name)


def __dir__() -> list[str]:
    return sorted(name for name in NAMESPACES if "." not in name)
