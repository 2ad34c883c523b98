"""tf.contrib.estimator: the predecessor of tf.estimator.experimental, and more."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["estimator"].opened()
