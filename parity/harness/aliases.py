"""Modules of the original's names, made of this library's public objects."""

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
# Helpers of the tests alone, which the checkout brings itself.
_SUPPORT = (
    "canned.dnn_testing_utils",
    "canned.linear_testing_utils",
    "canned.v1.dnn_testing_utils_v1",
    "canned.v1.linear_testing_utils_v1",
    "hooks.fake_summary_writer",
)
# Modules that are there whatever the checkout holds: those with names, and those above them.
_PARENTS = {_TOP, f"{_TOP}.python", f"{_TOP}.python.estimator"} | {
    ".".join(module.split(".")[: i + 1])
    for module in (*PUBLIC, *STAND_INS)
    for i in range(len(module.split(".")))
}


class _Alias(ModuleType):
    """A module whose names are looked up when they are first used.

    Every module of the checkout is there: a test file imports many that few of its tests use.
    """

    def __getattr__(self, name: str) -> Any:
        module = self.__name__.removeprefix(_PREFIX)
        if name.startswith("__"):
            raise AttributeError(name)
        found = resolve(module, name)
        setattr(self, name, found)
        return found


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
            return None  # a name that is no module: to import it is an error
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _is_in_checkout(self, fullname: str) -> bool:
        place = self._checkout.joinpath(*fullname.split("."))
        return place.is_dir() or place.with_suffix(".py").is_file()

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Alias(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def install(checkout: Path, cores: int) -> None:
    """Makes imports of tensorflow_estimator lead to this library, and tf.estimator too.

    Args:
      checkout: where the tests' own helpers are.
      cores: how many emulated cores an empty master means; 0 leaves it as the library has it.
    """
    import estimator_bridge as eb  # before TensorFlow: it settles which Keras is used

    eb.install()
    sys.meta_path.insert(0, _Finder(checkout))
    for name in [m for m in sys.modules if m.partition(".")[0] == _TOP]:
        del sys.modules[name]
    if cores:
        _emulate(cores)


def _emulate(cores: int) -> None:
    """Lets the empty master of a test that was written for a TPU machine mean emulated cores."""
    import estimator_bridge as eb

    class OnCores(eb.tpu.RunConfig):
        def __init__(self, tpu_config: Any = None, evaluation_master: Any = None,
                     master: Any = None, cluster: Any = None, **kwargs: Any):  # fmt: skip
            if not master and cluster is None:
                master = f"emulated:{min(_cores_of(tpu_config) or cores, cores)}"
            super().__init__(tpu_config, evaluation_master, master, cluster, **kwargs)

    eb.runtime.emulate_cores(cores)
    import_module(f"{_PREFIX}tpu.tpu_config").RunConfig = OnCores


def _cores_of(tpu_config: Any) -> int | None:
    """How many cores the machine has that a test was written for; None if it does not tell."""
    if tpu_config is None or tpu_config.num_shards is None:
        return None
    return tpu_config.num_shards * (tpu_config.num_cores_per_replica or 1)


def import_module(name: str) -> Any:
    """Imports, for its side effects on attributes too."""
    return importlib.import_module(name)
