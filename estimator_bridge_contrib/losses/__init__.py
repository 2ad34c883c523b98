"""tf.contrib.losses: losses that take predictions before labels and add to a collection."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["losses"].opened()
