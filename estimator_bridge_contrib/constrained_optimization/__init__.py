"""tf.contrib.constrained_optimization: minimization subject to constraints."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["constrained_optimization"].opened()
