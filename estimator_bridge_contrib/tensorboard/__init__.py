"""tf.contrib.tensorboard: its only plugin, the projector, is now in the package tensorboard."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["tensorboard"].opened()
