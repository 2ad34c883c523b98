"""The outputs of each step of a running loop, in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["StepOutputs"]

_raw = tf.raw_ops


class StepOutputs:
    """Lists that grow with the steps of a loop; if a step fails, they are lost.

    A queue would keep them, but costs half of a small model's step: its operations are
    asynchronous, so each moves the rest of the step to another thread.

    Args:
      specs: the specs of a step's outputs, as far as the graph knows their shapes.
    """

    def __init__(self, specs: Sequence[tf.TensorSpec]):
        self._specs = list(specs)

    def none(self) -> list[tf.Tensor]:
        """Returns the lists before the first step."""
        return [
            _raw.EmptyTensorList(
                element_shape=tf.constant(-1),
                max_num_elements=tf.constant(-1),
                element_dtype=spec.dtype,
            )
            for spec in self._specs
        ]

    def append(self, lists: Sequence[tf.Tensor], values: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Returns the lists with a step's outputs appended."""
        return [
            _raw.TensorListPushBack(input_handle=handle, tensor=value)
            for handle, value in zip(lists, values)
        ]

    def read(self, lists: Sequence[tf.Tensor], steps: int) -> list[list[np.ndarray]]:
        """Returns the outputs of a loop's steps, one list per step."""
        if not steps:
            return []
        with eager_mode(), tf.device(host_device()):
            columns = [_column(*pair, steps) for pair in zip(self._specs, lists)]
        return list(map(list, zip(*columns)))


def _column(spec: tf.TensorSpec, handle: tf.Tensor, steps: int) -> list[np.ndarray]:
    """One output of each step; at once, where the steps differ in their first dimension alone."""
    if spec.shape.rank and spec.shape[1:].is_fully_defined():
        column, sizes = _raw.TensorListConcatV2(
            input_handle=handle,
            element_dtype=spec.dtype,
            element_shape=tf.constant([-1, *spec.shape[1:]]),
            leading_dims=tf.constant([], tf.int64),
        )
        ends = np.cumsum(sizes.numpy())
        # Copies, so that a kept example keeps only its own batch alive.
        return [part.copy() for part in np.split(column.numpy(), ends[:-1])]
    return [
        _raw.TensorListGetItem(
            input_handle=handle, index=i, element_shape=tf.constant(-1), element_dtype=spec.dtype
        ).numpy()
        for i in range(steps)
    ]
