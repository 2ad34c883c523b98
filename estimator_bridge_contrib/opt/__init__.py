"""tf.contrib.opt: optimizers besides those of tf.train."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["opt"].opened()
