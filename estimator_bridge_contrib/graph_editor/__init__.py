"""tf.contrib.graph_editor: finds, copies and reconnects operations of a graph."""

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["graph_editor"].opened()
