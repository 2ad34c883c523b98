"""tf.contrib.integrate: solvers of ordinary differential equations."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["integrate"].opened()
