"""tf.contrib.kernel_methods: linear models of features that a kernel has mapped."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["kernel_methods"].opened()
