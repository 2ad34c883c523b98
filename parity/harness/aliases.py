"""Provides modules under the original's names, with this library's public objects."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from parity.harness.names import PUBLIC, STAND_INS, resolve
from parity.harness.test_files import ROOT

__all__ = ["install"]

_TOP = "tensorflow_estimator"
_PREFIX = f"{_TOP}.python.estimator."
# Helpers used only by the tests, which the checkout contains.
_SUPPORT = (
    "canned.dnn_testing_utils",
    "canned.linear_testing_utils",
    "canned.v1.dnn_testing_utils_v1",
    "canned.v1.linear_testing_utils_v1",
    "hooks.fake_summary_writer",
)
# Modules that always exist, whatever the checkout holds: those with names, and their parents.
_PARENTS = {_TOP, f"{_TOP}.python", f"{_TOP}.python.estimator"} | {
    ".".join(module.split(".")[: i + 1])
    for module in (*PUBLIC, *STAND_INS)
    for i in range(len(module.split(".")))
}


class _Alias(ModuleType):
    """A module whose names are looked up when they are first used.

    Every module of the checkout exists: a test file imports many that few of its tests use.
    """

    def __getattr__(self, name: str) -> Any:
        module = self.__name__.removeprefix(_PREFIX)
        if name.startswith("__"):
            raise AttributeError(name)
        value = resolve(module, name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, checkout: Path):
        self._checkout = checkout

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != _TOP:
            return None
        below = fullname.removeprefix(_PREFIX)
        if below in _SUPPORT:
            source = (self._checkout / ROOT).joinpath(*below.split(".")).with_suffix(".py")
            return importlib.util.spec_from_file_location(fullname, source)
        if not (below in _PARENTS or self._is_in_checkout(fullname)):
            return None  # the name of an object: importing it as a module is an error
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _is_in_checkout(self, fullname: str) -> bool:
        place = self._checkout.joinpath(*fullname.split("."))
        return place.is_dir() or place.with_suffix(".py").is_file()

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Alias(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: a module has no code to run."""


def install(checkout: Path, cores: int, devices: str = "emulated") -> None:
    """Makes imports of tensorflow_estimator lead to this library, and tf.estimator too.

    Args:
      checkout: the folder of the tests' own helpers.
      cores: number of cores for an empty master; 0 keeps the library's meaning.
      devices: what they are: 'emulated', or 'jax:cpu'.
    """
    import estimator_bridge as eb  # before TensorFlow: it selects Keras 2

    eb.install()
    sys.meta_path.insert(0, _Finder(checkout))
    for name in [m for m in sys.modules if m.partition(".")[0] == _TOP]:
        del sys.modules[name]
    if cores:
        _emulate(cores, devices)


def _emulate(cores: int, devices: str) -> None:
    """Makes an empty master, in a test for a TPU machine, mean devices of this one."""
    import estimator_bridge as eb

    class OnCores(eb.tpu.RunConfig):
        def __init__(self, tpu_config: Any = None, evaluation_master: Any = None,
                     master: Any = None, cluster: Any = None, **kwargs: Any):  # fmt: skip
            if not master and cluster is None:
                master = f"{devices}:{min(_cores_of(tpu_config) or cores, cores)}"
            super().__init__(tpu_config, evaluation_master, master, cluster, **kwargs)

    eb.runtime.emulate_cores(cores)  # for steps on JAX too: sessions of the tests name them
    import_module(f"{_PREFIX}tpu.tpu_config").RunConfig = OnCores


def _cores_of(tpu_config: Any) -> int | None:
    """Returns the number of cores for which a test was written; None if it is unknown."""
    if tpu_config is None or tpu_config.num_shards is None:
        return None
    return tpu_config.num_shards * (tpu_config.num_cores_per_replica or 1)


def import_module(name: str) -> Any:
    """Imports a module, for its side effects on attributes too."""
    return importlib.import_module(name)
