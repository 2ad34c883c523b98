"""tf.contrib.gan: a generator and a discriminator, their losses and their training ops."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["gan"].opened()
