"""tf.contrib.learn: what programs of tf.estimator took from it, not its own estimators."""

from estimator_bridge.legacy.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn"].opened()
