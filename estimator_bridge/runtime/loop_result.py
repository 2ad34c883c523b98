"""What a call of a loop did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

__all__ = ["LoopResult"]


class LoopResult(NamedTuple):
    """What a call of a loop did.

    Attributes:
      steps: how many steps ran.
      input_ended: whether the input had no batch for the next one.
      loss: the last step's, averaged over the replicas; None where no step ran or no loss is
        watched.
      fetched: the extra fetches by reference, of the first replica at the last step; None where
        the loop ended before the last of the steps that it was asked for.
      short_batch: the flat components of a batch that is smaller than the others, for which no
        step was run; None where there was none.
      limit_value: the limit variable's value afterwards; None where there is no such variable.
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
