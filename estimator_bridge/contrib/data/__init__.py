"""tf.contrib.data: what became tf.data.experimental, under its older names."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["data"].opened()
