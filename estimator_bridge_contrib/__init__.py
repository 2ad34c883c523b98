"""The supported parts of TensorFlow 1's tf.contrib.

Each namespace is a module here. The modules and their names are loaded on first use. Namespaces
for estimators, TPUs and strategies, and tf.contrib as a whole, are in
`estimator_bridge.legacy.contrib`. This package uses only `errors`,
`lazy_namespace`, `missing_names` and `tensorflow_private` of estimator_bridge.
"""

from __future__ import annotations

from types import ModuleType

from estimator_bridge.contrib.namespace_advice import Namespaces
from estimator_bridge.contrib.namespaces import NAMESPACES
from estimator_bridge.lazy_namespace import make_lazy
from estimator_bridge.missing_names import missing_getattr

__all__ = ["NAMESPACES"]

make_lazy(__name__)
_fail = missing_getattr(__name__, Namespaces(), "tf.contrib")


def __getattr__(name: str) -> ModuleType:
    return NAMESPACES[name].load() if name in NAMESPACES else _fail(name)


def __dir__() -> list[str]:
    return sorted(name for name in NAMESPACES if "." not in name)
