"""tf.contrib.framework.nest: nested lists, tuples and dicts."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["framework.nest"].opened()
