"""tf.contrib.learn.datasets: small data sets as NumPy arrays."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.datasets"].opened()
