"""The last step, as hooks see it: `run_context.stop_requested` is true."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

__all__ = ["StopAfterHook"]

_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook


class StopAfterHook(_SessionRunHook):
    """Requests the stop that the loop makes by itself, for the hooks that come after this one.

    The original counted steps by a hook that stood behind the caller's hooks and before the spec's.
    Such a hook fetches the global step. This one asks for nothing and is called once.

    Attributes:
      steps: how many there are to be; None where their number is not known.
    """

    def __init__(self, steps: int | None = None):
        self.steps = steps

    def steps_until_due(self, step: int) -> float:
        """The last step."""
        del step
        return math.inf if self.steps is None else max(self.steps, 1)

    def skip(self, steps: int) -> None:
        """Told of steps that ran without a call of this hook."""
        if self.steps is not None:
            self.steps -= steps

    def after_run(self, run_context, run_values):
        """Requests the stop, if this was the last step."""
        del run_values
        self.skip(1)
        if self.steps is not None and self.steps <= 0:
            run_context.request_stop()
