"""The names that TF1 had in tf.keras.experimental, which tf_keras no longer has."""

from __future__ import annotations

import importlib
import re
import sys
from types import ModuleType
from typing import Any

from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.legacy.extended_modules import ModuleExtender
from estimator_bridge.legacy.tf1.private_keras import (
    NAMES_OF_EXPERIMENTAL,
    REMOVED_FROM_EXPERIMENTAL,
)

__all__ = ["complete_keras_experimental"]

# tf_keras' own modules, and those that an import by TensorFlow's path makes of the same files.
_NAME = re.compile(
    r"(tf_keras(\.api\._v[12]\.keras)?|tensorflow(\.compat\.v[12])?\.keras)\.experimental"
)
_MISSING = {
    name: f"is not in the package tf_keras. {instead}"
    for name, instead in REMOVED_FROM_EXPERIMENTAL.items()
}


def complete_keras_experimental() -> None:
    """Adds the names to tf.keras.experimental, where it is loaded and where it will be."""
    if _extender in sys.meta_path:
        return
    for name, module in list(sys.modules.items()):
        if _NAME.fullmatch(name) and module is not None:
            _complete(module)
    sys.meta_path.insert(0, _extender)


def _complete(module: ModuleType) -> None:
    fail = missing_getattr(module.__name__, _MISSING, "tf.keras.experimental")

    def __getattr__(name: str) -> Any:
        if name not in NAMES_OF_EXPERIMENTAL:
            return fail(name)
        home, _, name_there = NAMES_OF_EXPERIMENTAL[name].rpartition(".")
        value = getattr(importlib.import_module(home), name_there)
        setattr(module, name, value)
        return value

    vars(module)["__getattr__"] = __getattr__
    own = {"__getattr__", "__dir__"}
    vars(module)["__dir__"] = lambda: sorted({*vars(module), *NAMES_OF_EXPERIMENTAL} - own)


def _is_completed(fullname: str) -> bool:
    return _NAME.fullmatch(fullname) is not None


_extender = ModuleExtender(_is_completed, _complete)
