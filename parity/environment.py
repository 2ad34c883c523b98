"""Where a program runs: under a TensorFlow that has Estimator, or here, with this library's.

This is the one place of the harness that knows the difference.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

__all__ = ["IS_ORIGINAL", "load", "turn_v2_behavior_off"]

IS_ORIGINAL = hasattr(tf, "estimator")  # up to TensorFlow 2.15


def load(name: str) -> ModuleType:
    """Imports a program of ``parity/programs/``, which finds ``tf.estimator`` where it always was.

    Args:
      name: the program's file, without ``.py``.

    Returns:
      The program's module.
    """
    if not IS_ORIGINAL:
        import estimator_bridge  # it sees to Keras 2 as well, which nothing has loaded so far

        estimator_bridge.install()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    return importlib.import_module(f"parity.programs.{name}")


def turn_v2_behavior_off() -> None:
    """Does what most programs of TF1 began with; call it once, before the first ``load``."""
    if not IS_ORIGINAL:
        import estimator_bridge  # noqa: F401
    tf.compat.v1.disable_v2_behavior()
