"""The names that TF1 had in tf.keras.experimental, which tf_keras no longer has."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.legacy.extended_modules import ModuleExtender
from estimator_bridge.tf_contrib.package import load_contrib

__all__ = ["complete_keras_experimental"]

# tf_keras' own modules, and those that an import by TensorFlow's path makes of the same files.
_NAME = re.compile(
    r"(tf_keras(\.api\._v[12]\.keras)?|tensorflow(\.compat\.v[12])?\.keras)\.experimental"
)
_SCHEDULES = "tf_keras.src.optimizers.schedules.learning_rate_schedule"
_MISSING = {
    "PeepholeLSTMCell": (
        "is not in the package tf_keras. Use "
        "tf.compat.v1.nn.rnn_cell.LSTMCell(units, use_peepholes=True)."
    ),
    "terminate_keras_multiprocessing_pools": (
        "was removed from Keras: its pools end with their generators. Leave the call out."
    ),
}


def _of_contrib(name: str) -> Callable[[], Any]:
    return lambda: getattr(load_contrib("saved_model.keras_saved_model"), name)


def _of_keras(name: str) -> Callable[[], Any]:
    return lambda: getattr(importlib.import_module(_SCHEDULES), name)


_NAMES: dict[str, Callable[[], Any]] = {
    "LinearCosineDecay": _of_keras("LinearCosineDecay"),
    "NoisyLinearCosineDecay": _of_keras("NoisyLinearCosineDecay"),
    "export_saved_model": _of_contrib("save_keras_model"),
    "load_from_saved_model": _of_contrib("load_keras_model"),
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
        if name not in _NAMES:
            return fail(name)
        value = _NAMES[name]()
        setattr(module, name, value)
        return value

    vars(module)["__getattr__"] = __getattr__
    vars(module)["__dir__"] = lambda: sorted({*vars(module), *_NAMES} - {"__getattr__", "__dir__"})


def _is_completed(fullname: str) -> bool:
    return _NAME.fullmatch(fullname) is not None


_extender = ModuleExtender(_is_completed, _complete)
