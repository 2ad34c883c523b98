"""tf.contrib.learn.monitors, which hooks replaced in TensorFlow 1.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.monitors"].opened()


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Any] | None, estimator: Any) -> list:
    """Returns hooks as a list.

    Args:
      monitors_or_hooks: hooks, or None.
      estimator: the estimator that they are for.

    Returns:
      The hooks.

    Raises:
      TypeError: a value is a monitor, which is not supported.
    """
    hooks = list(monitors_or_hooks or [])
    for hook in hooks:
        if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
            raise TypeError(
                f"{hook!r} is a monitor of tf.contrib.learn, which is not supported. Rewrite it as "
                "a tf.train.SessionRunHook."
            )
    return hooks
