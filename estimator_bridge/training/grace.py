"""How long training may take to save and end when it is asked to."""

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
    """Sets how long train() may take, after SIGTERM or Ctrl-C, to come to a checkpoint.

    Pass it to train() among the hooks. It takes precedence over the environment variable
    ESTIMATOR_BRIDGE_GRACE_SECS.

    Args:
      secs: for the steps in flight, and once more for the last checkpoint; then the process ends
        at once. 0 ends it at the first signal.

    Raises:
      ValueError: secs is no number >= 0.
    """

    def __init__(self, secs: float):
        self.secs = _checked(secs, "GracePeriod(secs)")


def grace_of(hooks: Sequence[Any]) -> float | None:
    """The grace period that hooks set; None where none does."""
    return next((hook.secs for hook in hooks if isinstance(hook, GracePeriod)), None)


def grace_secs(secs: float | None) -> tuple[float, bool]:
    """The grace period in seconds, and whether it is the default, which slow checkpoints extend.

    Args:
      secs: what the program sets; None: nothing.

    Raises:
      ValueError: the environment variable holds no number >= 0.
    """
    if secs is not None:
        return secs, False
    said = os.environ.get(_VARIABLE)
    if not said:
        return _DEFAULT_SECS, True
    return _checked(said, f"The environment variable {_VARIABLE}"), False


def _checked(value: Any, name: str) -> float:
    try:
        secs = float(value)
    except (TypeError, ValueError):
        secs = math.nan
    if not (secs >= 0 and math.isfinite(secs)):
        raise ValueError(f"{name} must be a number of seconds >= 0, got {value!r}.")
    return secs
