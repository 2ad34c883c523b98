"""tf.contrib.keras: the modules of tf.keras."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["keras"].opened()
