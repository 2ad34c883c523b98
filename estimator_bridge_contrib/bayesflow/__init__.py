"""tf.contrib.bayesflow: estimates of expectations from samples."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["bayesflow"].opened()
