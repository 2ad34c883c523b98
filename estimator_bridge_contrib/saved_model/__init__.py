"""tf.contrib.saved_model: what a SavedModel's file holds."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["saved_model"].opened()
