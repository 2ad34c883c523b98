"""tf.contrib.data: `estimator_bridge.contrib.data` and a hook for estimators."""

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["data"].opened()
