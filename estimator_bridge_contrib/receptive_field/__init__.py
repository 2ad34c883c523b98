"""tf.contrib.receptive_field: the receptive field of a convolutional network."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["receptive_field"].opened()
