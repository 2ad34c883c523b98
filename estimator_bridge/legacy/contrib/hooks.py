"""tf.contrib.hooks: one hook, which moved to tf.train."""

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["hooks"].opened()
