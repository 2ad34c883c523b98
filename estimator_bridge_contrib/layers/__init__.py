"""``tf.contrib.layers``: layers that create their variables in the current variable scope."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["layers"].opened()
