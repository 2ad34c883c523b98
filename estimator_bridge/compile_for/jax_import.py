"""Keeps jax, which only the compiler's process needs, out of the program's process.

TensorFlow Lite, which TensorFlow always loads, imports jax if it is installed, as it is for the
compiler. That takes an eighth of TensorFlow's import time, and 0.1 GB.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

__all__ = ["keep_jax_out"]

_IMPORTER = "tensorflow.lite.python.util"  # which works without it


def keep_jax_out() -> None:
    """Hides jax from TensorFlow Lite; a program can still import it."""
    if not any(isinstance(finder, _NoJax) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NoJax())


class _NoJax:
    """The first import finder, which refuses jax to TensorFlow Lite."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns None, so that Python asks the other finders.

        Raises:
          ModuleNotFoundError: TensorFlow Lite imports jax.
        """
        if name == "jax" and _is_within(_IMPORTER):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def _is_within(module: str) -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == module:
            return True
        frame = frame.f_back
    return False
