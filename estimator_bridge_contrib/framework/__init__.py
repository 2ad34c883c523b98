"""tf.contrib.framework: scopes of arguments, variables and checkpoints, nested structures."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["framework"].opened()
