"""tf.contrib.learn.utils: exports."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.utils"].opened()
