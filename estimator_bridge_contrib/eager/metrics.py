"""tf.contrib.eager.metrics: objects that collect a metric over the calls of an evaluation."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["eager.metrics"].opened()
