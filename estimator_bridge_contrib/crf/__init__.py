"""tf.contrib.crf: linear-chain conditional random fields."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["crf"].opened()
