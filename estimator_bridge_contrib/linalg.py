"""tf.contrib.linalg: operators of matrices, under the names of TensorFlow 1.0 to 1.4."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["linalg"].opened()
