"""tf.contrib.distributions: the distributions that are in tf.compat.v1.distributions."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["distributions"].opened()
