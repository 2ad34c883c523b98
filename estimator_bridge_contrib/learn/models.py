"""tf.contrib.learn.models: linear models for a model_fn."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["learn.models"].opened()
