"""Provides private TensorFlow modules that test files import and newer releases have moved."""

from __future__ import annotations

import importlib
import inspect
import sys
import unittest
from types import ModuleType

__all__ = ["GONE", "install"]

# Removed after 2.15. Test files import them at the top, and use them in a few tests.
GONE = (
    "tensorflow.python.distribute.estimator_training",
    "tensorflow.python.tpu.tpu_embedding",
)
# Modules that were moved: the old path names the same module, so that a mock of it has an effect.
_MOVED = {
    "tensorflow.python.training.checkpoint_management": (
        "tensorflow.python.checkpoint.checkpoint_management"
    ),
}
# Python 3.12 removed these spellings of unittest's assertions.
_OLD_ASSERTIONS = {
    "assertEquals": "assertEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
}


class _Gone(ModuleType):
    """A module that can be imported; using a name raises an error that says it is gone."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"private name {self.__name__}.{name}: gone from this TensorFlow")


def install() -> None:
    """Adds stand-ins for missing names; existing ones stay."""
    for name in GONE:
        try:
            importlib.import_module(name)
        except ImportError:
            parent, _, child = name.rpartition(".")
            stand_in = _Gone(name)
            sys.modules[name] = stand_in
            setattr(importlib.import_module(parent), child, stand_in)
    for name, new_name in _MOVED.items():
        parent, _, child = name.rpartition(".")
        sys.modules[name] = module = importlib.import_module(new_name)
        setattr(importlib.import_module(parent), child, module)
    if not hasattr(inspect, "getargspec"):  # gone since Python 3.11; tests read only the names
        inspect.getargspec = inspect.getfullargspec  # type: ignore[attr-defined]
    for old, new in _OLD_ASSERTIONS.items():
        if not hasattr(unittest.TestCase, old):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
