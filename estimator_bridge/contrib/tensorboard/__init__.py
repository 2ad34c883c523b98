"""tf.contrib.tensorboard: its one plugin, the projector, is in the package tensorboard today."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["tensorboard"].opened()
