"""Checks of annotations that split a tensor over the cores of a replica."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["check_logical_device", "check_partition"]


def check_logical_device(logical_device_id: int, cores: int) -> None:
    """Checks the number of a core of a replica.

    Args:
      logical_device_id: counted from 0.
      cores: the number of cores of a replica.

    Raises:
      ValueError: there is no such core.
    """
    if not 0 <= logical_device_id < cores:
        raise ValueError(
            "`logical_core_id` to assign must be lower then total number of logical devices per "
            f"replica. Received logical device id {logical_device_id} but there are only total of "
            f"{cores} logical devices in replica."
        )


def check_partition(tensor: Any, partition_dimensions: Sequence[int], cores: int) -> None:
    """Checks into how many parts each dimension of a tensor is split.

    Args:
      tensor: one replica's tensor.
      partition_dimensions: a number of parts for each dimension.
      cores: the number of cores of a replica, which is the product of those numbers.

    Raises:
      ValueError: they do not fit the tensor or the cores.
    """
    shape = tf.convert_to_tensor(tensor).shape
    parts = list(partition_dimensions)
    if shape.rank is not None and shape.rank != len(parts):
        raise ValueError(
            f"Length of `partition_dimensions` must equal to the rank of the tensor, {shape.rank}; "
            f"got {parts}. Give a number of parts for each dimension, 1 for those that stay whole."
        )
    for dimension, (size, count) in enumerate(zip(shape if shape.rank is not None else (), parts)):
        if size is not None and size % count:
            raise ValueError(
                f"Tensor shape at `partition_dimensions[{dimension}]` must be divisible by "
                f"corresponding value specified by `partition_dimensions` ({count}). Received: "
                f"{size}."
            )
    if math.prod(parts) != cores:
        raise ValueError(
            "The product of `partition_dimensions` should be the same as the number of logical "
            f"devices (={cores}). Received `partition_dimensions`={parts}, and their product is "
            f"{math.prod(parts)}. The DeviceAssignment of the strategy determines the number."
        )
