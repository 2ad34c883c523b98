"""Installs this library under the names and paths of tf.estimator."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from types import ModuleType
from typing import Any

from estimator_bridge.base.tensorflow_namespaces import tensorflow_namespaces
from estimator_bridge.legacy.api_modules import api_module_v1, api_module_v2
from estimator_bridge.legacy.lazy_module import LazyModule
from estimator_bridge.legacy.old_paths import OLD_MODULES, below
from estimator_bridge.legacy.tf1.contrib_paths import find_contrib
from estimator_bridge.legacy.tf1.keras_experimental import complete_keras_experimental
from estimator_bridge.legacy.tf1.private_modules import find_private_names
from estimator_bridge.legacy.tpu_functions import redirect_tpu_functions

__all__ = ["install"]

_SUBMODULES = ("experimental", "export", "inputs", "tpu")


def install() -> None:
    """Makes ``tf.estimator`` and its old paths refer to this library.

    It provides:

    - ``tf.estimator``, ``tf.compat.v1.estimator`` and ``tf.compat.v2.estimator``, as attributes
      and for imports such as ``from tensorflow.compat.v1 import estimator``.
    - The package ``tensorflow_estimator`` with its modules, and ``tensorflow.python.estimator``.
      docs/evidence/library_names.md lists the names that libraries import there, private ones
      included.
    - ``tf.distribute.cluster_resolver.TPUClusterResolver`` as in `estimator_bridge.tpu`.
    - ``tf.distribute.TPUStrategy``, and the functions that connect to a TPU and initialize it, for
      emulated cores too.
    - The parameter classes of ``tf.compat.v1.tpu.experimental``, such as AdagradParameters.
    - The functions of ``tf.compat.v1.tpu`` that need a TPU, as in `estimator_bridge.tpu`.
    - The supported parts of ``tensorflow.contrib``, for imports such as ``from
      tensorflow.contrib import layers``.
    - The functions and classes of TF1's ``tf.keras.experimental``, such as ``export_saved_model``.
    - Private names that TensorFlow had, for imports such as ``from tensorflow.python.util.nest
      import is_sequence``. An error for a removed one says what to write.

    Call it before the program imports any of these. Another call changes nothing.

    Raises:
      RuntimeError: this TensorFlow still includes Estimator.
    """
    import tensorflow as tf
    import tensorflow.compat.v1
    import tensorflow.compat.v2

    v1, v2 = api_module_v1(), api_module_v2()
    if getattr(tf, "estimator", v2) is not v2:
        raise RuntimeError(
            f"TensorFlow {tf.__version__} has tf.estimator itself, and "
            "estimator_bridge.install() does not replace it. Use that one (do not import "
            "estimator_bridge), or install TensorFlow 2.16 or newer."
        )
    from estimator_bridge import tpu_embedding_parameters
    from estimator_bridge.base.duplicate_log_lines import drop_duplicate_lines
    from estimator_bridge.legacy.tpu_cluster_resolver import TPUClusterResolver
    from estimator_bridge.runtime.local_clusters import in_notebook
    from estimator_bridge.runtime.tpu_api import make_tpu_api_know_cores
    from estimator_bridge.tensorflow_private.timers import use_steady_timers
    from estimator_bridge.tensorflow_private.variables import restore_variable_v1

    for name, namespace in tensorflow_namespaces():
        namespace.estimator = v1 if name.endswith("v1") else v2  # type: ignore[attr-defined]
        resolvers: Any = namespace.distribute.cluster_resolver
        resolvers.TPUClusterResolver = TPUClusterResolver
        if name.endswith("v1"):
            for parameters in tpu_embedding_parameters.__all__:
                kind = getattr(tpu_embedding_parameters, parameters)
                setattr(namespace.tpu.experimental, parameters, kind)
            redirect_tpu_functions(namespace)
    make_tpu_api_know_cores()
    if in_notebook():
        from estimator_bridge.training.notebook_errors import shorten_notebook_errors

        shorten_notebook_errors()
    drop_duplicate_lines()
    use_steady_timers()
    places = {"tensorflow": v2, "tensorflow.compat.v1": v1, "tensorflow.compat.v2": v2}
    for place, estimator in places.items():
        sys.modules[f"{place}.estimator"] = estimator
    find_contrib()
    find_private_names()
    complete_keras_experimental()
    restore_variable_v1()
    if not any(isinstance(finder, _OldPaths) for finder in sys.meta_path):
        _forget_the_original()
        sys.meta_path.insert(0, _OldPaths())


def _forget_the_original() -> None:
    """Drops a loaded tensorflow_estimator that was left behind by TensorFlow 2.15."""
    names = [name for name in sys.modules if name.partition(".")[0] == "tensorflow_estimator"]
    if names:
        warnings.warn(
            "The package tensorflow_estimator, of an older TensorFlow, was imported before "
            "estimator_bridge.install(), which replaces it from here on. What the program imported "
            "from it will not work. Run: pip uninstall tensorflow-estimator",
            stacklevel=3,
        )
    for name in names:
        del sys.modules[name]


class _OldPaths(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the original's modules by their full names."""

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of a stand-in; None for a module that the original did not have."""
        del path, target
        is_old_module = fullname in OLD_MODULES or _submodule(fullname) or _of_contrib(fullname)
        if not is_old_module:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Makes the stand-in."""
        if spec.name in OLD_MODULES:
            return LazyModule(spec.name, *OLD_MODULES[spec.name], submodules=below(spec.name))
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Binds modules such as `tensorflow.estimator.export`; a stand-in runs no code."""
        submodule = _submodule(module.__name__)
        if submodule:
            estimator = sys.modules[module.__name__.rpartition(".")[0]]
            sys.modules[module.__name__] = getattr(estimator, submodule)
        contrib = _of_contrib(module.__name__)
        if contrib:
            sys.modules[module.__name__] = contrib


def _submodule(name: str) -> str | None:
    """Returns the namespace of tf.estimator that a full name means; None for other modules."""
    place, _, last = name.rpartition(".")
    estimator = sys.modules.get(place)
    is_there = last in _SUBMODULES and last in getattr(estimator, "__all__", ())
    return last if is_there and estimator in (api_module_v1(), api_module_v2()) else None


def _of_contrib(name: str) -> ModuleType | None:
    """Returns a module of tf.contrib that tensorflow_estimator had too; None for other names."""
    top, _, below_top = name.partition(".")
    if top != "tensorflow_estimator" or below_top.split(".")[0] != "contrib":
        return None
    try:
        return importlib.import_module(f"tensorflow.{below_top}")
    except ModuleNotFoundError:
        return None
