"""tf.contrib.tensorboard: its one plugin, the projector, is in the package tensorboard today."""

from estimator_bridge.legacy.contrib.tensorboard import projector
from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["projector"]

__getattr__ = missing_getattr(__name__, {}, "tf.contrib.tensorboard")
