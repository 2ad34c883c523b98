"""tf.contrib.distributions: those of tf.compat.v1.distributions, and others."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["distributions"].opened()
