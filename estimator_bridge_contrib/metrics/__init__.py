"""tf.contrib.metrics: the predecessors of tf.metrics, and metrics that it does not have."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["metrics"].opened()
