"""Functions of TF1 that have no equivalent name in TensorFlow 2."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["experimental_list_devices"]


def experimental_list_devices() -> list[str]:
    """Lists the names of this process's devices, as '/job:localhost/.../device:CPU:0'."""
    with eager_mode():
        return [device.name for device in tf.config.list_logical_devices()]
