"""tf.contrib.optimizer_v2: the optimizers of tf.train, and its own RMSProp."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["optimizer_v2"].opened()
