"""tf.contrib.stateless: random numbers that follow from a seed of two numbers alone."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["stateless"].opened()
