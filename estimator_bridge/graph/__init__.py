"""The engine: TF1 graphs traced, lifted into tf.functions, run by a session.

Knows nothing of estimators; ``trace_graph`` makes a graph, ``Lifted`` puts a part of it into a
tf.function, ``LiftedSession`` runs parts of it as tf.compat.v1.Session would.
"""

from estimator_bridge.graph.lift import JoinFn, Lifted
from estimator_bridge.graph.resources import Resources, host_device
from estimator_bridge.graph.session import LiftedSession
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.trace import continue_trace, trace_graph

__all__ = [
    "JoinFn",
    "Lifted",
    "LiftedSession",
    "Resources",
    "Snapshot",
    "continue_trace",
    "host_device",
    "trace_graph",
]
