"""tf.contrib.lite: tf.lite under its first names."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["lite"].opened()
