"""tf.contrib.batching: a function whose concurrent calls are computed as one batch."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["batching"].opened()
