"""tf.contrib.optimizer_v2: the optimizers of tf.train."""

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["optimizer_v2"].opened()
