"""What the steps of a running loop leave for the program, in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["StepOutputs"]


class StepOutputs:
    """A queue on the host. Where a step fails, those of the steps before it are in it all the same.

    Args:
      dtypes: of a step's outputs.
    """

    def __init__(self, dtypes: Sequence[tf.DType]):
        with eager_mode(), tf.device(host_device()):
            self._queue = tf.queue.FIFOQueue(-1, list(dtypes))  # a limit would stop the loop

    def put(self, values: Sequence[tf.Tensor]) -> tf.Operation:
        """Adds a step's outputs, within the loop; returns what does so."""
        with tf.device(host_device()):
            return self._queue.enqueue(list(values))

    def take(self) -> list[list[np.ndarray]]:
        """The outputs of the steps since the last call, a list a step."""
        with eager_mode(), tf.device(host_device()):
            handle, dtypes = self._queue.queue_ref, self._queue.dtypes
            taken = [
                tf.raw_ops.QueueDequeueV2(handle=handle, component_types=dtypes)
                for _ in range(int(self._queue.size()))
            ]
        return [[value.numpy() for value in values] for values in taken]
