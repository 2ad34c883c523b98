"""The result of a call of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

__all__ = ["LoopResult"]


class LoopResult(NamedTuple):
    """The result of a call of a loop.

    Attributes:
      steps: the number of steps that ran.
      input_ended: whether the input had no batch for the next one.
      loss: the loss of the last step, averaged over the replicas; None if no step ran or no loss
        is watched.
      fetched: the extra fetches by reference, of the first replica at the last step; None if
        fewer steps ran than were asked for.
      short_batch: the flat components of a batch that is smaller than the others, for which no
        step ran; None if there was none.
      limit_value: the limit variable's value afterwards; None if there is no such variable.
      left_over: the input's last elements, each as its flat components, where they were too few
        to give one to each replica, and no step was run.
      outputs: the fetches of each step, where the loop keeps them.
    """

    steps: int
    input_ended: bool
    loss: float | None
    fetched: dict[str, tf.Tensor] | None
    short_batch: list[Any] | None
    limit_value: int | None = None
    left_over: Sequence[list[Any]] = ()
    outputs: Sequence[list[np.ndarray]] = ()
