"""tf.contrib.nccl: reductions over the tensors of several devices.

TensorFlow's own operations run them; where it has NCCL and the devices are GPUs, it copies between
them directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["nccl"].opened()


def all_sum(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the sum of tensors on the device of each.

    Args:
      tensors: tensors of one shape and type, each with a device.

    Raises:
      ValueError: there is none, or one has no device.
    """
    return _on_all(tensors, tf.add_n)


def all_prod(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the product of tensors on the device of each; see ``all_sum``."""
    return _on_all(tensors, lambda each: tf.reduce_prod(tf.stack(each), axis=0))


def all_min(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the smallest elements of tensors on the device of each; see ``all_sum``."""
    return _on_all(tensors, lambda each: tf.reduce_min(tf.stack(each), axis=0))


def all_max(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the largest elements of tensors on the device of each; see ``all_sum``."""
    return _on_all(tensors, lambda each: tf.reduce_max(tf.stack(each), axis=0))


def reduce_sum(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """Returns the sum of tensors on the current device.

    Args:
      tensors: tensors of one shape and type, each with a device.

    Raises:
      ValueError: there is none, or one has no device.
    """
    _check(tensors)
    return tf.add_n(list(tensors))


def _on_all(tensors: Sequence[Any], reduce: Callable[[list[Any]], Any]) -> list[tf.Tensor]:
    _check(tensors)
    result = reduce(list(tensors))
    placed = []
    for tensor in tensors:
        with tf.device(tensor.device):
            placed.append(tf.identity(result))
    return placed


def _check(tensors: Sequence[Any]) -> None:
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    for tensor in tensors:
        if not tensor.device:
            raise ValueError(
                f"Device assignment required for nccl collective ops: make {tensor.name} in a "
                "tf.device scope."
            )
