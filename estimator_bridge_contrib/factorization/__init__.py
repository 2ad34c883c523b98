"""tf.contrib.factorization: k-means, Gaussian mixtures and weighted alternating least squares."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["factorization"].opened()
