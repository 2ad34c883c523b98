"""tf.contrib.learn: the names that programs of tf.estimator use, without its estimators."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn"].opened()
