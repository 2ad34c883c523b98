"""tf.contrib.learn.monitors: what gave way to hooks in TensorFlow 1.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["replace_monitors_with_hooks"]


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Any] | None, estimator: Any) -> list:
    """Gives back a list of hooks.

    Args:
      monitors_or_hooks: hooks; or None.
      estimator: that they are for.

    Returns:
      The hooks.

    Raises:
      TypeError: one is no hook: monitors are not supported.
    """
    hooks = list(monitors_or_hooks or [])
    for hook in hooks:
        if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
            raise TypeError(
                f"{hook!r} is a monitor of tf.contrib.learn, which are not supported. Write it as "
                "a tf.train.SessionRunHook."
            )
    return hooks


_TRAIN = "is not supported. Use tf.train."
_BEFORE = {
    "CaptureVariable": "SessionRunHook, which fetches it in before_run",
    "CheckpointSaver": "CheckpointSaverHook",
    "GraphDump": "SessionRunHook, which fetches what it wants in before_run",
    "LoggingTrainable": "LoggingTensorHook",
    "NanLoss": "NanTensorHook",
    "PrintTensor": "LoggingTensorHook",
    "StepCounter": "StepCounterHook",
    "StopAtStep": "StopAtStepHook",
    "SummarySaver": "SummarySaverHook",
}
_BASES = (
    "BaseMonitor",
    "EveryN",
    "ExportMonitor",
    "RunHookAdapterForMonitors",
    "SummaryWriterCache",
)

__getattr__ = missing_getattr(
    __name__,
    {
        **{name: f"{_TRAIN}{hook}." for name, hook in _BEFORE.items()},
        **dict.fromkeys(_BASES, f"{_TRAIN}SessionRunHook."),
        "ValidationMonitor": (
            "is not supported. Use tf.estimator.train_and_evaluate, which evaluates each "
            "checkpoint, or tf.estimator.experimental.InMemoryEvaluatorHook."
        ),
    },
    "tf.contrib.learn.monitors",
)
