"""Loads programs under a TensorFlow that has Estimator, or here with this library's.

Only this module of the harness knows the difference.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

__all__ = ["IS_ORIGINAL", "load", "turn_v2_behavior_off"]

IS_ORIGINAL = hasattr(tf, "estimator")  # TensorFlow 1.15 to 2.15


def load(name: str) -> ModuleType:
    """Imports a program of ``parity/programs/``, which finds ``tf.estimator`` under its usual name.

    Args:
      name: the program's file, without ``.py``.

    Returns:
      The program's module.
    """
    if not IS_ORIGINAL:
        import estimator_bridge  # also selects Keras 2, which must not be loaded yet

        estimator_bridge.install()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    return importlib.import_module(f"parity.programs.{name}")


def turn_v2_behavior_off() -> None:
    """Turns v2 behavior off, as most TF1 programs did; call it once, before the first ``load``."""
    if not IS_ORIGINAL:
        import estimator_bridge  # noqa: F401
    tf.compat.v1.disable_v2_behavior()
