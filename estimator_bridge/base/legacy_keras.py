"""Points TensorFlow's Keras names at Keras 2, before or after TensorFlow was imported.

TensorFlow 2.16 made Keras 3 the default, which has no ``tf.compat.v1.layers`` and no graph mode.
Keras 2 continues as tf-keras, and ``TF_USE_LEGACY_KERAS=1`` makes TensorFlow use it. TensorFlow
reads that switch twice: during its import, for the search path behind ``import tensorflow.keras``,
and when an attribute such as ``tf.keras`` or ``tf.compat.v1.layers`` is first used. So a program
may import TensorFlow before this library as long as it has not used Keras yet; most names that it
has used can be replaced.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import warnings
from types import ModuleType

__all__ = ["use_legacy_keras"]

_SWITCH = "TF_USE_LEGACY_KERAS"

# Attributes that TensorFlow resolves to Keras, with their Keras 2 modules, by the end of a
# namespace's module name. A namespace exists in several copies, since TensorFlow's package and its
# `import tensorflow.compat.v1` each load their own; a program may hold any of them.
_V2 = {
    "keras": "tf_keras.api._v2.keras",
    "losses": "tf_keras.api._v2.keras.losses",
    "metrics": "tf_keras.api._v2.keras.metrics",
    "optimizers": "tf_keras.api._v2.keras.optimizers",
    "initializers": "tf_keras.api._v2.keras.initializers",
}
_V1 = {
    "keras": "tf_keras.api._v1.keras",
    "layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
}
_ATTRIBUTES = {
    "": _V2,
    "compat.v2": _V2,
    "compat.v1": _V1,
    "compat.v1.nn": {"rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell"},
}
# Folders within tf_keras/api that TensorFlow searches for its namespaces' Keras submodules.
_FOLDERS = {
    "": ["_v2"],
    "compat.v2": ["_v2"],
    "compat.v1": [os.path.join("_v1", "keras", "__internal__", "legacy"), "_v1"],
}


def use_legacy_keras() -> None:
    """Points TensorFlow's Keras names (``tf.keras``, ``tf.compat.v1.layers``) at tf-keras.

    This is cheap and complete before TensorFlow is imported or its Keras is used. Later, the names
    in TensorFlow are replaced with a warning, because objects that the program took from Keras 3
    stay Keras 3 objects.
    """
    previous = os.environ.get(_SWITCH)
    if previous is not None and previous not in ("1", "true", "True", ""):
        warnings.warn(
            f"{_SWITCH}={previous} is set, but Estimator programs need Keras 2 (Keras 3 has no "
            f"graph mode): estimator_bridge sets it to 1. Remove {_SWITCH} from the environment "
            "to silence this.",
            stacklevel=3,
        )
    os.environ[_SWITCH] = "1"
    if "tensorflow" not in sys.modules:
        return
    namespaces = _loaded_namespaces()
    _mend_search_paths(namespaces)
    places = _mend_attributes(namespaces) + _forget_submodules()
    if places:
        warnings.warn(
            f"Keras 3 was in use before estimator_bridge was imported ({', '.join(places)}). "
            "These names of TensorFlow are Keras 2 (tf-keras) from here on, but objects that the "
            "program took from them before still belong to Keras 3 and will not work in a "
            "model_fn. Move `import estimator_bridge` above the first use of Keras; best, above "
            "`import tensorflow`.",
            stacklevel=3,
        )


def _loaded_namespaces() -> list[tuple[str, ModuleType]]:
    namespaces = []
    for name, module in sys.modules.items():
        match = re.fullmatch(r"tensorflow(?:\..+)?\.(compat\.v2|compat\.v1(?:\.nn)?)", name)
        if match or name == "tensorflow":
            namespaces.append((match[1] if match else "", module))
    return namespaces


def _keras_2_folder() -> str:
    package = importlib.util.find_spec("tf_keras")
    if package is None or not package.submodule_search_locations:
        raise ImportError(
            "estimator_bridge needs Keras 2, which is the package tf-keras, but found none. "
            "Run: pip install tf-keras"
        )
    return package.submodule_search_locations[0]


def _mend_search_paths(namespaces: list[tuple[str, ModuleType]]) -> None:
    """Puts tf-keras first on the search paths of ``import tensorflow.keras``.

    TensorFlow does the same if it is imported with the switch already on.
    """
    root = os.path.join(_keras_2_folder(), "api")
    for ending, namespace in namespaces:
        first = [os.path.join(root, folder) for folder in _FOLDERS.get(ending, [])]
        others = [entry for entry in namespace.__path__ if entry not in first]
        namespace.__path__ = first + others


def _mend_attributes(namespaces: list[tuple[str, ModuleType]]) -> list[str]:
    """Replaces attributes that are already bound to Keras 3; returns their names."""
    places = {}  # a dict for an ordered set
    for ending, namespace in namespaces:
        for name, replacement in _ATTRIBUTES[ending].items():
            # vars(), since getattr() would make TensorFlow resolve unused names.
            if _is_keras_3(vars(namespace).get(name)):
                setattr(namespace, name, importlib.import_module(replacement))
                places[".".join(filter(None, ("tf", ending, name)))] = True
    return list(places)


def _is_keras_3(value: object) -> bool:
    attributes = vars(value) if isinstance(value, ModuleType) else {}
    name = str(attributes.get("__name__", ""))
    if name.startswith("tensorflow."):  # as tensorflow.keras: the file tells which Keras
        return not str(attributes.get("__file__", "")).startswith(
            os.path.join(_keras_2_folder(), "")
        )
    return name.partition(".")[0] == "keras"


def _forget_submodules() -> list[str]:
    """Drops Keras 3 modules imported as ``tensorflow.keras...``, so the next import finds Keras 2.

    Returns:
        The dropped modules' common name, if there were any.
    """
    names = [
        name
        for name, module in sys.modules.items()
        if re.match(r"tensorflow\.keras(\.|$)", name) and _is_keras_3(module)
    ]
    for name in names:
        del sys.modules[name]
    return ["tensorflow.keras"] if names else []
