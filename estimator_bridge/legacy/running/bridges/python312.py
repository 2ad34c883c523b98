"""Modules that Python 3.12 removed: `imp`, and the versions of `distutils`."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

__all__ = ["distutils_version", "imp"]


def imp() -> ModuleType:
    """Makes the part of `imp` that programs use: load_source, reload, new_module."""
    module = ModuleType("imp", "Stands in for Python's removed module imp.")
    functions = {
        "load_source": _load_source,
        "new_module": ModuleType,
        "reload": importlib.reload,
    }
    vars(module).update(functions)
    sys.modules["imp"] = module
    return module


def _load_source(name: str, path: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None and spec.loader is not None  # because a loader was given
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class LooseVersion:
    """A version whose numbers and words are compared one by one: 1.10 comes after 1.9.

    Args:
      vstring: the version.
    """

    def __init__(self, vstring: str = "0"):
        self.vstring = str(vstring)
        parts = re.findall(r"\d+|[a-z]+", self.vstring)
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self.vstring}')"

    def __str__(self) -> str:
        return self.vstring

    def _key(self) -> list[tuple[int, Any]]:
        # A word marks a pre-release: 2.0rc1 is older than 2.0.1.
        return [(1, part) if isinstance(part, int) else (0, part) for part in self.version]

    def __eq__(self, other: object) -> bool:
        return self._key() == _version(other)._key()

    def __lt__(self, other: Any) -> bool:
        return self._key() < _version(other)._key()

    def __le__(self, other: Any) -> bool:
        return self._key() <= _version(other)._key()

    def __gt__(self, other: Any) -> bool:
        return self._key() > _version(other)._key()

    def __ge__(self, other: Any) -> bool:
        return self._key() >= _version(other)._key()

    def __hash__(self) -> int:
        return hash(self.vstring)


class StrictVersion(LooseVersion):
    """The same for versions that consist of numbers."""


def _version(value: Any) -> LooseVersion:
    return value if isinstance(value, LooseVersion) else LooseVersion(value)


def distutils_version() -> ModuleType:
    """Makes `distutils.version` for a Python without distutils and setuptools."""
    package = ModuleType("distutils", "Stands in for Python's removed package distutils.")
    package.__path__ = []
    module: Any = ModuleType("distutils.version")
    module.LooseVersion, module.StrictVersion = LooseVersion, StrictVersion
    package.version = module  # type: ignore[attr-defined]
    sys.modules.update({"distutils": package, "distutils.version": module})
    return module
