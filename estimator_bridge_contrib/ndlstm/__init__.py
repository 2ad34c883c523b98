"""tf.contrib.ndlstm: LSTMs over sequences, and over the rows and columns of images."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["ndlstm"].opened()
