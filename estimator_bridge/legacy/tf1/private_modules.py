"""Moved names of tensorflow.python that programs import by their old paths.

Names are only looked up here for programs that ask for them: TensorFlow's own modules import each
other as before.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["MODULES", "NAMESPACES", "moved_module", "with_old_names"]

_ROOT = "tensorflow.python."

# Modules that have moved; modules below them are below the new path. "tf1." starts a namespace of
# tf.compat.v1. The longest matching path applies. Programs no longer use TensorFlow's own copy of
# Keras: tf.keras comes from the package tf_keras.
MODULES = {
    "keras": "tf_keras.src",
    "layers.base": "tf_keras.src.legacy_tf_layers.base",
    "layers.convolutional": "tf_keras.src.legacy_tf_layers.convolutional",
    "layers.core": "tf_keras.src.legacy_tf_layers.core",
    "layers.layers": "tf1.layers",
    "layers.normalization": "tf_keras.src.legacy_tf_layers.normalization",
    "layers.pooling": "tf_keras.src.legacy_tf_layers.pooling",
    "ops.rnn_cell": "tf1.nn.rnn_cell",
    "ops.rnn_cell_impl": "tf_keras.src.layers.rnn.legacy_cells",
    "platform.parameterized": "absl.testing.parameterized",
    "training.checkpointable": "tensorflow.python.trackable",
    "training.distribute": "tf1.distribute",
    "training.distribution_strategy_context": "tf1.distribute",
    "distribute.distribution_strategy_context": "tf1.distribute",
    "training.tracking": "tensorflow.python.trackable",
    "training.tracking.graph_view": "tensorflow.python.checkpoint.graph_view",
    "training.tracking.object_identity": "tensorflow.python.util.object_identity",
    "training.tracking.tracking": "tensorflow.python.trackable.autotrackable",
    "training.tracking.util": "tensorflow.python.checkpoint.checkpoint",
    "training.training_ops": "tensorflow.python.ops.gen_training_ops",
    "feature_column.dense_features": "tf1.feature_column",
    "ops.losses.loss_reduction": "tf1.keras.losses",
}

# By prefix of a module's path: the namespace of tf.compat.v1 with its public names.
NAMESPACES = {
    "client.device_lib": "config",
    "data": "data",
    "distribute": "distribute",
    "eager.context": "config",
    "feature_column": "feature_column",
    "framework.graph_util": "graph_util",
    "layers": "layers",
    "lib.io": "python_io",
    "ops.image_ops": "image",
    "ops.init_ops": "initializers",
    "ops.linalg": "linalg",
    "ops.lookup_ops": "lookup",
    "ops.losses": "losses",
    "ops.metrics": "metrics",
    "ops.nn": "nn",
    "ops.parsing_ops": "io",
    "ops.random_ops": "random",
    "ops.rnn_cell": "nn.rnn_cell",
    "ops.rnn": "nn",
    "ops.sparse_ops": "sparse",
    "ops.string_ops": "strings",
    "ops.summary": "summary",
    "ops": "math",
    "platform.gfile": "gfile",
    "platform.tf_logging": "logging",
    "pywrap_tensorflow": "train",
    "saved_model": "saved_model",
    "summary": "summary",
    "tpu": "tpu",
    "training": "train",
    "util": "nest",
}


# Functions that are public under another name of tf.compat.v1.
_NAMES = {
    "eager.function.defun": "function",
    "ops.variable_scope.variable": "Variable",
    "ops.variables.VariableV1": "Variable",
}


def moved_module(name: str) -> ModuleType | None:
    """Returns the replacement of a moved module.

    Args:
      name: the old module's full name.

    Returns:
      The new module; None for a module that has not moved, or was removed.
    """
    if not name.startswith(_ROOT):
        return None
    below = name[len(_ROOT) :]
    for old in sorted(MODULES, key=len, reverse=True):
        if below == old or below.startswith(f"{old}."):
            return _load(MODULES[old] + below[len(old) :])
    return None


def with_old_names(module: Any) -> Any:
    """Lets a module of tensorflow.python find names that it had in TF1.

    Args:
      module: the module; any other object is returned unchanged.

    Returns:
      The same module. Names that it has are not affected; names that it lacks are looked up in
      TensorFlow's public API.
    """
    name = getattr(module, "__name__", "")
    if isinstance(module, ModuleType) and name.startswith(_ROOT) and name not in _with_old_names:
        _with_old_names.add(name)
        # This library's modules find their own names, some of which belong to their submodules.
        own_finder = "__getattr__" in vars(module) or hasattr(type(module), "__getattr__")
        if not own_finder:
            module.__getattr__ = _finder_of(name)  # type: ignore[method-assign]
    return module


_with_old_names: set[str] = set()


def _finder_of(module: str) -> Callable[[str], Any]:
    below = module[len(_ROOT) :]
    fitting = [start for start in NAMESPACES if f"{below}.".startswith((f"{start}.", f"{start}_"))]
    namespaces = [NAMESPACES[start] for start in sorted(fitting, key=len, reverse=True)] + [""]

    def __getattr__(name: str) -> Any:
        if not name.startswith("_"):
            import tensorflow.compat.v1 as tf1

            if f"{below}.{name}" in _NAMES:
                return operator.attrgetter(_NAMES[f"{below}.{name}"])(tf1)
            for namespace in namespaces:
                try:
                    return operator.attrgetter(f"{namespace}.{name}".lstrip("."))(tf1)
                except AttributeError:
                    continue
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__


def _load(path: str) -> ModuleType | None:
    if path.startswith("tf1."):
        import tensorflow.compat.v1 as tf1

        try:
            return operator.attrgetter(path[len("tf1.") :])(tf1)
        except AttributeError:
            return None
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path and not path.startswith(f"{error.name}."):
            raise
    return None
