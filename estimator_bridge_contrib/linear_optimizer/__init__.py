"""tf.contrib.linear_optimizer: stochastic dual coordinate ascent (SDCA)."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["linear_optimizer"].opened()
