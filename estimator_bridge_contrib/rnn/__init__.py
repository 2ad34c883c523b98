"""``tf.contrib.rnn``: cells, wrappers of cells, and layers of them."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["rnn"].opened()
