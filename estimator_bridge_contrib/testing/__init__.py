"""tf.contrib.testing: summaries and event files in tests."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["testing"].opened()
