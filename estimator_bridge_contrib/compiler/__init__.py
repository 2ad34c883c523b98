"""tf.contrib.compiler: compilation by XLA."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["compiler"].opened()
