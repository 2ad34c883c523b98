"""tf.contrib.all_reduce: graphs that reduce tensors of several devices."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["all_reduce"].opened()
