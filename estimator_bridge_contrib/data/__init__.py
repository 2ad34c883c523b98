"""tf.contrib.data: the predecessor of tf.data.experimental, with its own names."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["data"].opened()
