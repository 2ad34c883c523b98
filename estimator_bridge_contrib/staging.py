"""tf.contrib.staging: a buffer of tensors on a device."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["staging"].opened()
