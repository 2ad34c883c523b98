"""tf.contrib.hooks: a hook that moved to tf.train."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["hooks"].opened()
