"""The engine: TF1 graphs traced, lifted into tf.functions, run by a session.

This package knows nothing of estimators. ``trace_graph`` makes a graph, ``Lifted`` imports a part
of it into a tf.function, and ``LiftedSession`` runs parts of it as tf.compat.v1.Session would.
"""

from estimator_bridge.graph.collectives import REPLICA_ID
from estimator_bridge.graph.divergence import diverging_variables, needs_batch
from estimator_bridge.graph.keras_classes import graph_classes
from estimator_bridge.graph.large_constants import arrays_outside
from estimator_bridge.graph.lift import JoinFn, Lifted
from estimator_bridge.graph.op_errors import with_user_line
from estimator_bridge.graph.replica_local import ReplicaLocal, replica_locals
from estimator_bridge.graph.resources import DeviceValues, Resources, host_device
from estimator_bridge.graph.session import LiftedSession
from estimator_bridge.graph.session_input import DividedIterators, InputPart, SessionInput
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.graph.state_cut import StateCut, cut_before_state
from estimator_bridge.graph.trace import (
    GlobalSteps,
    continue_trace,
    for_tpu,
    is_on_tpu,
    trace_graph,
)

__all__ = [
    "REPLICA_ID",
    "DeviceValues",
    "DividedIterators",
    "GlobalSteps",
    "InputPart",
    "JoinFn",
    "Lifted",
    "LiftedSession",
    "ReplicaLocal",
    "Resources",
    "SessionInput",
    "Snapshot",
    "StateCut",
    "arrays_outside",
    "continue_trace",
    "cut_before_state",
    "diverging_variables",
    "for_tpu",
    "graph_classes",
    "host_device",
    "is_on_tpu",
    "needs_batch",
    "replica_locals",
    "trace_graph",
    "with_user_line",
]
