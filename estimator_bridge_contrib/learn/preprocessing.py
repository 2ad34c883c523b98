"""tf.contrib.learn.preprocessing: words and categories as numbers."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.preprocessing"].opened()
