"""tf.estimator's names for the measured process: this library's, or TF 2.15's own."""

from __future__ import annotations

import logging

try:
    import estimator_bridge as estimators  # isort: skip  # first: it selects Keras 2

    import tensorflow as tf

    IS_ORIGINAL = False
except (ImportError, SyntaxError):  # TensorFlow 2.15 or 1.15, which have the original
    import tensorflow as tf

    estimators = tf.estimator
    IS_ORIGINAL = True

__all__ = ["IS_ORIGINAL", "estimators", "tf", "v1"]

v1 = tf.compat.v1
logging.getLogger("tensorflow").setLevel(logging.ERROR)
