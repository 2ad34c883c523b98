"""The names that layers get from their classes, as TensorFlow 1 made them.

A class ``CellRNNV2`` names its layer, and so its variables in checkpoints, ``cell_rnn_v2`` in
TensorFlow 1 and ``cell_rnnv2`` in Keras 2.
"""

from __future__ import annotations

import re
import sys
from types import ModuleType

from estimator_bridge.legacy.extended_modules import ModuleExtender

__all__ = ["name_layers_as_tf1"]

# Keras' function, and the modules that copy it when they are imported.
_HOME = "tf_keras.src.utils.generic_utils"
_COPIES = ("tf_keras.src.engine.base_layer", "tf_keras.src.engine.base_layer_v1")


def name_layers_as_tf1() -> None:
    """Lets Keras and tf.layers name layers as in TensorFlow 1, where Keras is or will be loaded."""
    for name in (_HOME, *_COPIES):
        module = sys.modules.get(name)
        if module is not None:
            _rename_layers_of(module)
    if _HOME not in sys.modules and _extender not in sys.meta_path:
        sys.meta_path.insert(0, _extender)


def _rename_layers_of(module: ModuleType) -> None:
    vars(module)["to_snake_case"] = _snake_case


def _snake_case(name: str) -> str:
    words = re.sub(r".[A-Z][a-z0-9]+", lambda match: f"{match[0][0]}_{match[0][1:]}", name)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()
    return f"private{words}" if words.startswith("_") else words


def _is_home(fullname: str) -> bool:
    return fullname == _HOME


_extender = ModuleExtender(_is_home, _rename_layers_of)
