"""Names of ``util`` that belong to other packages."""

from __future__ import annotations

import tensorflow as tf
import tf_keras

from estimator_bridge.tensorflow_private.names import function_utils

__all__ = ["fn_args", "tf_keras", "tf_keras_v1"]

fn_args = function_utils.fn_args
tf_keras_v1 = tf.compat.v1.keras
