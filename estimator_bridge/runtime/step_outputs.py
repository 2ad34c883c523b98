"""What the steps of a running loop leave for the program, in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["StepOutputs"]

_raw = tf.raw_ops


class StepOutputs:
    """Lists that grow with the steps of a loop; where a step fails, they are lost.

    A queue would keep them, but takes half as long as a small model's step: its operations are
    asynchronous, so each hands the rest of the step to another thread.

    Args:
      specs: of a step's outputs, as far as the graph knows their shapes.
    """

    def __init__(self, specs: Sequence[tf.TensorSpec]):
        self._specs = list(specs)

    def none(self) -> list[tf.Tensor]:
        """The lists before the first step."""
        return [
            _raw.EmptyTensorList(
                element_shape=tf.constant(-1),
                max_num_elements=tf.constant(-1),
                element_dtype=spec.dtype,
            )
            for spec in self._specs
        ]

    def added(self, lists: Sequence[tf.Tensor], values: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """The lists with a step's outputs at their ends."""
        return [
            _raw.TensorListPushBack(input_handle=handle, tensor=value)
            for handle, value in zip(lists, values)
        ]

    def read(self, lists: Sequence[tf.Tensor], steps: int) -> list[list[np.ndarray]]:
        """The outputs of a loop's steps, a list a step."""
        if not steps:
            return []
        with eager_mode(), tf.device(host_device()):
            columns = [_column(*pair, steps) for pair in zip(self._specs, lists)]
        return list(map(list, zip(*columns)))


def _column(spec: tf.TensorSpec, handle: tf.Tensor, steps: int) -> list[np.ndarray]:
    """One output of each step; at once, where the steps differ in their first dimension alone."""
    if spec.shape.rank and spec.shape[1:].is_fully_defined():
        joined, sizes = _raw.TensorListConcatV2(
            input_handle=handle,
            element_dtype=spec.dtype,
            element_shape=tf.constant([-1, *spec.shape[1:]]),
            leading_dims=tf.constant([], tf.int64),
        )
        ends = np.cumsum(sizes.numpy())
        # Copies, for who keeps one example is to keep its batch alive and no more.
        return [part.copy() for part in np.split(joined.numpy(), ends[:-1])]
    return [
        _raw.TensorListGetItem(
            input_handle=handle, index=i, element_shape=tf.constant(-1), element_dtype=spec.dtype
        ).numpy()
        for i in range(steps)
    ]
