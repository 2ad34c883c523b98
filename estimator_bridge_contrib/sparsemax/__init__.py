"""tf.contrib.sparsemax: a softmax whose small probabilities are 0, and its loss."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["sparsemax"].opened()
