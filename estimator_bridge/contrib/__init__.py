"""tf.contrib of TensorFlow 1, as far as programs that are run here use it.

Each namespace is a module here, which is loaded when it is first used, and so are its names. What
faces estimators, TPUs and strategies is in `estimator_bridge.legacy.contrib`, and so is tf.contrib
as a whole. Nothing here needs more of estimator_bridge than `errors`, `missing` and
`tensorflow_private`.
"""

from __future__ import annotations

from types import ModuleType

from estimator_bridge.contrib.advice import Namespaces
from estimator_bridge.contrib.namespaces import NAMESPACES
from estimator_bridge.missing import missing_getattr

__all__ = ["NAMESPACES"]

_fail = missing_getattr(__name__, Namespaces(), "tf.contrib")


def __getattr__(name: str) -> ModuleType:
    return NAMESPACES[name].load() if name in NAMESPACES else _fail(name)


def __dir__() -> list[str]:
    return sorted(name for name in NAMESPACES if "." not in name)
