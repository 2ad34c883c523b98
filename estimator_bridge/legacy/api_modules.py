"""tf.estimator and tf.compat.v1.estimator, as modules of this library's names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType

from estimator_bridge.base.public_names import V1_PLACES, V2_PLACES
from estimator_bridge.legacy.lazy_module import LazyModule

__all__ = ["api_module_v1", "api_module_v2"]

# TensorFlow 1 and early releases of 2 had these; their kernels have gone too.
_BOOSTED_TREES = dict.fromkeys(
    ("BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"),
    "was removed, and so were its kernels. Train the trees with the package ydf, which exports "
    "them as SavedModels.",
)


def api_module_v1() -> ModuleType:
    """Returns the module that replaces ``tf.compat.v1.estimator``."""
    return _face("v1", "tf.compat.v1.estimator", V1_PLACES, _BOOSTED_TREES)


def api_module_v2() -> ModuleType:
    """Returns the module that replaces ``tf.estimator``."""
    only_v1 = "is only in tf.compat.v1.estimator: use tf.compat.v1.estimator.{}."
    missing = {name: only_v1.format(name) for name in V1_PLACES if name not in V2_PLACES}
    return _face("v2", "tf.estimator", V2_PLACES, {**_BOOSTED_TREES, **missing})


class _Face(LazyModule):
    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., ModuleType], tuple[str, ...]]:
        """Pickles the module so that a process which has not made it makes it."""
        return (api_module_v1 if self.__name__.endswith("v1") else api_module_v2), ()


def _face(
    version: str, public_name: str, places: Mapping[str, str], missing: Mapping[str, str]
) -> ModuleType:
    name = f"estimator_bridge.legacy.{version}"
    if name not in sys.modules:
        sys.modules[name] = _Face(name, dict(sorted(places.items())), missing, public_name)
    return sys.modules[name]
