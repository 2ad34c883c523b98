"""The grace period: the time that training has to save and end after a signal."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["GracePeriod", "grace_of", "grace_secs"]

_VARIABLE = "ESTIMATOR_BRIDGE_GRACE_SECS"
_DEFAULT_SECS = 30.0
_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook


class GracePeriod(_SessionRunHook):
    """Sets the time that train() has, after SIGTERM or Ctrl-C, to write a checkpoint.

    Pass it to train() among the hooks. It takes precedence over the environment variable
    ESTIMATOR_BRIDGE_GRACE_SECS.

    Args:
      secs: the seconds for the steps in flight, and again for the last checkpoint; then the
        process ends at once. 0 ends it at the first signal.

    Raises:
      ValueError: secs is not a number >= 0.
    """

    def __init__(self, secs: float):
        self.secs = _check_secs(secs, "GracePeriod(secs)")


def grace_of(hooks: Sequence[Any]) -> float | None:
    """Returns the grace period that hooks set; None if none does."""
    return next((hook.secs for hook in hooks if isinstance(hook, GracePeriod)), None)


def grace_secs(secs: float | None) -> tuple[float, bool]:
    """Returns the grace period in seconds, and whether slow checkpoints extend it (the default).

    Args:
      secs: the program's value; None if it sets none.

    Raises:
      ValueError: the environment variable holds no number >= 0.
    """
    if secs is not None:
        return secs, False
    text = os.environ.get(_VARIABLE)
    if not text:
        return _DEFAULT_SECS, True
    return _check_secs(text, f"The environment variable {_VARIABLE}"), False


def _check_secs(value: Any, name: str) -> float:
    try:
        secs = float(value)
    except (TypeError, ValueError):
        secs = math.nan
    if not (secs >= 0 and math.isfinite(secs)):
        raise ValueError(f"{name} must be a number of seconds >= 0, got {value!r}.")
    return secs
