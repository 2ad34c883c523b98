"""Errors for names of TensorFlow 1 in modules that got today's TensorFlow.

A module's source decides which TensorFlow it gets. One that receives ``tf`` from a function says
nothing, so its program may have to be started with ``--tf1``. A program often catches the error and
goes on, so the advice is in the error's own text.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from estimator_bridge.errors import MissingNameError
from estimator_bridge.legacy.running.tf1_names import ONLY_TF1

__all__ = ["explain_names_of_tf1"]

_API = "tensorflow._api.v2"


def explain_names_of_tf1() -> None:
    """Lets TensorFlow and its namespaces say what to do where a name of TensorFlow 1 is used."""
    for namespace in {name.rpartition(".")[0] for name in ONLY_TF1}:
        module = sys.modules.get(f"{_API}.{namespace}" if namespace else "tensorflow")
        if module is not None and "__getattr__" not in vars(module):
            _explain_names_of(module, namespace)


def _explain_names_of(module: ModuleType, namespace: str) -> None:
    def __getattr__(name: str) -> Any:
        text = f"module {module.__name__!r} has no attribute {name!r}"
        path = f"{namespace}.{name}".lstrip(".")
        if path not in ONLY_TF1:
            raise AttributeError(text)
        advice = "start it with `estimator-bridge run --tf1`"
        if _is_in_compat_v1(path):
            advice += f"; otherwise write tf.compat.v1.{path}"
        raise MissingNameError(
            f"{text}. TensorFlow 1 had it. If the program is written for TensorFlow 1, {advice}.",
            name=name,
        )

    vars(module)["__getattr__"] = __getattr__


def _is_in_compat_v1(path: str) -> bool:
    value: Any = sys.modules["tensorflow"].compat.v1
    for name in path.split("."):
        value = getattr(value, name, None)
    return value is not None
