"""tf.contrib.stateless: random numbers that depend only on a seed of two numbers."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["stateless"].opened()
