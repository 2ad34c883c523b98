"""tf.contrib.nn: dropout for SELU, sampled losses, and losses with the logits first."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["nn"].opened()
