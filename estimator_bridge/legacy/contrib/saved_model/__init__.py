"""tf.contrib.saved_model: `estimator_bridge.contrib.saved_model`, and Keras models."""

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["saved_model"].opened()
