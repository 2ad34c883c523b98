"""``tf.contrib.layers``: layers that make their variables in the current variable scope."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["layers"].opened()
