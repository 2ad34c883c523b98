"""Private TensorFlow modules that test files import and that newer releases have moved."""

from __future__ import annotations

import importlib
import sys
import unittest
from types import ModuleType

__all__ = ["GONE", "install"]

# Gone after 2.15. Test files import them at the top, and use them in a few tests.
GONE = (
    "tensorflow.python.distribute.estimator_training",
    "tensorflow.python.tpu.tpu_embedding",
)
# Python 3.12 took these spellings of unittest's assertions away.
_OLD_ASSERTIONS = {
    "assertEquals": "assertEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
}


class _Gone(ModuleType):
    """Imports, and says what is gone when it is used."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"private name {self.__name__}.{name}: gone from this TensorFlow")


def install() -> None:
    """Puts stand-ins where something is missing; what is there stays."""
    for name in GONE:
        try:
            importlib.import_module(name)
        except ImportError:
            parent, _, child = name.rpartition(".")
            sys.modules[name] = module = _Gone(name)
            setattr(importlib.import_module(parent), child, module)
    for old, new in _OLD_ASSERTIONS.items():
        if not hasattr(unittest.TestCase, old):
            setattr(unittest.TestCase, old, getattr(unittest.TestCase, new))
