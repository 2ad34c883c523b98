"""Puts this library where programs look for tf.estimator."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import re
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from estimator_bridge.legacy.faces import face_v1, face_v2
from estimator_bridge.legacy.lazy_module import LazyModule
from estimator_bridge.legacy.old_paths import OLD_MODULES, below
from estimator_bridge.legacy.tf1.contrib_paths import find_contrib
from estimator_bridge.legacy.tpu_functions import lead_tpu_functions_here

__all__ = ["install"]

# TensorFlow's namespaces; there are several copies of each, as they lie within each other.
_NAMESPACE = re.compile(r"tensorflow(\._api\.v2)?(\.(v2|compat\.v[12]))*")
_SUBMODULES = ("experimental", "export", "inputs", "tpu")


def install() -> None:
    """Makes ``tf.estimator`` and its other old places lead to this library.

    These are ``tf.estimator``, ``tf.compat.v1.estimator`` and ``tf.compat.v2.estimator``, as
    attributes and for ``from tensorflow.compat.v1 import estimator`` and the like; the package
    ``tensorflow_estimator`` with the paths of its modules; and ``tensorflow.python.estimator``.
    What libraries import there, private names too, is in docs/library_names.md.
    And ``tf.distribute.cluster_resolver.TPUClusterResolver`` is the one of `estimator_bridge.tpu`,
    ``tf.compat.v1.tpu.experimental`` has AdagradParameters and its like again, the functions of
    ``tf.compat.v1.tpu`` that need a TPU are those of `estimator_bridge.tpu`, and ``from
    tensorflow.contrib import layers`` and its like find what is there of it.
    Call it before the imports of the program that look there. To call it again changes nothing.

    Raises:
      RuntimeError: this TensorFlow still has Estimator itself.
    """
    import tensorflow as tf
    import tensorflow.compat.v1
    import tensorflow.compat.v2

    v1, v2 = face_v1(), face_v2()
    if getattr(tf, "estimator", v2) is not v2:
        raise RuntimeError(
            f"TensorFlow {tf.__version__} has tf.estimator itself, and estimator_bridge.install() "
            "does not take its place. Use that one (do not import estimator_bridge), or install "
            "TensorFlow 2.16 or newer."
        )
    from estimator_bridge import embedding_parameters
    from estimator_bridge.legacy.resolver import TPUClusterResolver
    from estimator_bridge.logs import write_lines_once
    from estimator_bridge.tensorflow_private import restore_variable_v1

    for name, namespace in _namespaces():
        namespace.estimator = v1 if name.endswith("v1") else v2  # type: ignore[attr-defined]
        resolvers: Any = namespace.distribute.cluster_resolver
        resolvers.TPUClusterResolver = TPUClusterResolver
        if name.endswith("v1"):
            for parameters in embedding_parameters.__all__:
                kind = getattr(embedding_parameters, parameters)
                setattr(namespace.tpu.experimental, parameters, kind)
            lead_tpu_functions_here(namespace)
    write_lines_once()
    places = {"tensorflow": v2, "tensorflow.compat.v1": v1, "tensorflow.compat.v2": v2}
    for place, face in places.items():
        sys.modules[f"{place}.estimator"] = face
    find_contrib()
    restore_variable_v1()
    if not any(isinstance(finder, _OldPaths) for finder in sys.meta_path):
        _forget_the_original()
        sys.meta_path.insert(0, _OldPaths())


def _namespaces() -> Iterator[tuple[str, ModuleType]]:
    for name, module in list(sys.modules.items()):
        if _NAMESPACE.fullmatch(name) and isinstance(module, ModuleType):
            yield name, module


def _forget_the_original() -> None:
    """Drops a tensorflow_estimator of TensorFlow 2.15 that was left behind, and is loaded."""
    loaded = [name for name in sys.modules if name.partition(".")[0] == "tensorflow_estimator"]
    if loaded:
        warnings.warn(
            "The package tensorflow_estimator, of an older TensorFlow, was imported before "
            "estimator_bridge.install(), which takes its place from here on. What the program took "
            "from it will not work. Run: pip uninstall tensorflow-estimator",
            stacklevel=3,
        )
    for name in loaded:
        del sys.modules[name]


class _OldPaths(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the original's modules by their full names."""

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a stand-in; None for a module that is none of the original's."""
        del path, target
        known = fullname in OLD_MODULES or _submodule(fullname) or _of_contrib(fullname)
        if not known:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Makes the stand-in."""
        if spec.name in OLD_MODULES:
            return LazyModule(spec.name, *OLD_MODULES[spec.name], submodules=below(spec.name))
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Sets what `import tensorflow.estimator.export` gives; a stand-in has nothing to run."""
        submodule = _submodule(module.__name__)
        if submodule:
            face = sys.modules[module.__name__.rpartition(".")[0]]
            sys.modules[module.__name__] = getattr(face, submodule)
        contrib = _of_contrib(module.__name__)
        if contrib:
            sys.modules[module.__name__] = contrib


def _submodule(name: str) -> str | None:
    """Which of the face's namespaces a module's full name means; None for another module."""
    place, _, last = name.rpartition(".")
    face = sys.modules.get(place)
    is_there = last in _SUBMODULES and last in getattr(face, "__all__", ())
    return last if is_there and face in (face_v1(), face_v2()) else None


def _of_contrib(name: str) -> ModuleType | None:
    """The module of tf.contrib that tensorflow_estimator had too; None for another name."""
    top, _, below_top = name.partition(".")
    if top != "tensorflow_estimator" or below_top.split(".")[0] != "contrib":
        return None
    try:
        return importlib.import_module(f"tensorflow.{below_top}")
    except ModuleNotFoundError:
        return None
