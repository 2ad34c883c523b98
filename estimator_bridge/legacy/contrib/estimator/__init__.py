"""tf.contrib.estimator: what became tf.estimator.experimental, and additions to estimators."""

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["estimator"].opened()
