"""tf.contrib.checkpoint: object-based checkpoints."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["checkpoint"].opened()
