"""Keeps jax, which the compiler's process alone needs, out of the program's process.

TensorFlow Lite, which TensorFlow loads in any case, imports jax where it is installed, as it is for
the compiler: an eighth of the time to load TensorFlow, and 0.1 GB.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

__all__ = ["keep_jax_out"]

_IMPORTER = "tensorflow.lite.python.util"  # which does without


def keep_jax_out() -> None:
    """Has TensorFlow Lite find no jax; a program that imports jax itself does."""
    if not any(isinstance(finder, _NoJax) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NoJax())


class _NoJax:
    """Stands in front of Python's finders, and refuses jax to the one module."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None, so that the other finders are asked.

        Raises:
          ModuleNotFoundError: TensorFlow Lite asks for jax.
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
