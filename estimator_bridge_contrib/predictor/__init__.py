"""tf.contrib.predictor: a model in its own session, called with arrays."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["predictor"].opened()
