"""tf.contrib.solvers: solvers of linear equations and least squares, without a matrix."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["solvers"].opened()
