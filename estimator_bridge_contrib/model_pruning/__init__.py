"""tf.contrib.model_pruning: weights with masks, which set the smallest ones to zero."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["model_pruning"].opened()
