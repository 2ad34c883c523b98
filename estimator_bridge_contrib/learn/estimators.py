"""tf.contrib.learn.estimators: estimators, and the names that model functions use."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.estimators"].opened()
