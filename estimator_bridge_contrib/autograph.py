"""tf.contrib.autograph: tf.autograph."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["autograph"].opened()
