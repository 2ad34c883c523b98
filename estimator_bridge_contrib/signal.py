"""tf.contrib.signal: the functions of tf.signal."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["signal"].opened()
