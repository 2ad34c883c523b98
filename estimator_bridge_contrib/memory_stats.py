"""tf.contrib.memory_stats: a GPU's memory, as TensorFlow's allocator counts it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["memory_stats"].opened()


def BytesInUse() -> tf.Tensor:
    """Returns the number of bytes that are in use on the current device, a GPU.

    Raises:
      tf.errors.InvalidArgumentError: when it runs, if there is no such GPU.
    """
    return _read("BytesInUse", lambda gpu: tf.config.experimental.get_memory_info(gpu)["current"])


def MaxBytesInUse() -> tf.Tensor:
    """Returns the largest number of bytes that were in use on the current device, a GPU.

    Raises:
      tf.errors.InvalidArgumentError: when it runs, if there is no such GPU.
    """
    return _read("MaxBytesInUse", lambda gpu: tf.config.experimental.get_memory_info(gpu)["peak"])


def BytesLimit() -> tf.Tensor:
    """Returns the number of bytes that TensorFlow may use on the current device; -1 on a CPU."""
    return _read("BytesLimit", _limit)


def _limit(gpu: str) -> int:
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        limits = {device.name: device.memory_limit_bytes for device in session.list_devices()}
    return next(limit for name, limit in limits.items() if name.endswith(f"device:{gpu}"))


def _read(name: str, ask: Any) -> tf.Tensor:
    """Makes an operation that asks for a number when it runs."""
    with tf.name_scope("device_of_memory_stats"):
        device = tf.zeros([]).device  # that of the surrounding tf.device
    if name == "BytesLimit" and "GPU" not in device and not tf.config.list_logical_devices("GPU"):
        return tf.constant(-1, tf.int64, name=name)
    number = re.search(r"GPU:(\d+)", device)
    gpu = f"GPU:{number[1] if number else 0}"

    def read_number() -> np.int64:
        there = [each.name for each in tf.config.list_logical_devices("GPU")]
        if not any(each.endswith(f"device:{gpu}") for each in there):
            raise ValueError(  # TensorFlow turns it into an InvalidArgumentError
                f"No OpKernel was registered to support Op '{name}' on a CPU: TensorFlow counts "
                f"only a GPU's memory. Wanted: {gpu}. GPUs: {', '.join(there) or 'none'}. Fetch "
                "it only if tf.config.list_logical_devices('GPU') is not empty."
            )
        return np.int64(ask(gpu))

    with tf.device("/device:CPU:0"):
        result = tf.numpy_function(read_number, [], tf.int64, name=name)
    result.set_shape([])
    return result
