"""``tf.contrib.cudnn_rnn``: cuDNN's layers on every device."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["cudnn_rnn"].opened()
