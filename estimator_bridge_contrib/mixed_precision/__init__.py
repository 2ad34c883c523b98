"""tf.contrib.mixed_precision: an optimizer that scales the loss."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["mixed_precision"].opened()
