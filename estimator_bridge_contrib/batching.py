"""tf.contrib.batching: a decorator that batches concurrent calls of a function."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["batching"].opened()
