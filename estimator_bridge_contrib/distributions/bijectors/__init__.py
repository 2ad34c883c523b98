"""tf.contrib.distributions.bijectors: functions with an inverse, of what a distribution draws."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["distributions.bijectors"].opened()
