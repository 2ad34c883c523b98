"""Refuses, before anything runs, what steps on JAX do not have yet."""

from __future__ import annotations

from estimator_bridge.errors import INSTEAD_OF_JAX, NotCompilableError, NotOnJaxError
from estimator_bridge.graph import LiftedSession, Snapshot, replica_locals
from estimator_bridge.graph.compilable import find_obstacles, not_compilable
from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.random_nodes import number_type
from estimator_bridge.graph.randomness import has_same_draws, is_seeded
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.step import ReplicaStep

__all__ = ["check_step"]


def check_step(run: ReplicaStep, session: LiftedSession, strategy: JaxStrategy) -> None:
    """Checks that JAX can run a replica's step.

    Raises:
      NotCompilableError: XLA lacks an operation, or cannot give a result a static shape.
      NotOnJaxError: the host has a part in the middle of the step, a draw has no position, or what
        the processes would have to exchange after each step.
    """
    graph, name = session.graph, strategy.jax_name
    if strategy.processes is not None:
        _check_exchanges(run, session, name)
    obstacles = find_obstacles(graph, run.names, for_tpu=True, exempt_ops=run.computed_ops)
    if obstacles:
        raise NotCompilableError(f"{not_compilable(obstacles)}\n{INSTEAD_OF_JAX}")
    nodes = Snapshot.of(graph).nodes
    for node in (nodes[n] for n in run.names):
        if "_xla_outside_compilation" in node.attr:
            raise NotOnJaxError(
                f"{node.name!r} is left to the host (tpu.outside_compilation), at "
                f"{line_of_node(graph, node.name)}. Steps on {name} have no operations of the "
                f"host in their middle. {INSTEAD_OF_JAX}"
            )
    library = Snapshot.of(graph).library
    random_functions = functions_where(library, is_seeded)
    with_position = set(run.random_names)
    for node in (nodes[n] for n in run.names):
        may_differ = strategy.device_draws or not is_seeded(node) or node.name not in with_position
        if not (may_differ or has_same_draws(node)):
            raise NotOnJaxError(
                f"{node.name!r} ({node.op} of {number_type(node).name}), at "
                f"{line_of_node(graph, node.name)}: XLA would draw other numbers than TensorFlow. "
                f"Steps on {name} draw uniform, normal and gamma-distributed floats, and "
                f"integers. {INSTEAD_OF_JAX}"
            )
        if node.name not in with_position and (
            is_seeded(node) or called_functions(node) & random_functions
        ):
            raise NotOnJaxError(
                f"{node.name!r} draws random numbers ({node.op}), at "
                f"{line_of_node(graph, node.name)}, without a position that a resumed run could "
                "continue from: it is a sampler, or in a loop's condition. Steps on "
                f"{name} have no such streams, and XLA would ignore the seed. {INSTEAD_OF_JAX}"
            )


def _check_exchanges(run: ReplicaStep, session: LiftedSession, name: str) -> None:
    """Refuses what would have each process change variables by itself."""
    own = sorted(replica_locals(session.graph).variables)
    if own:
        raise NotOnJaxError(
            f"The variable {own[0]!r} has a value of its own on each replica "
            f"(VariableSynchronization.ON_READ). Steps of several processes on {name} do not add "
            f"such values up. Run one process, or leave the synchronization out. {INSTEAD_OF_JAX}"
        )
    host = run.host
    both = sorted(host.writes & run.variables) if host else []
    if both:
        raise NotOnJaxError(
            f"The host's part of a step (host_call) writes the variable {both[0]!r}, which the "
            f"replicas use. Of several processes on {name} the first one alone runs it, and the "
            "others would go on with the old value. Run one process, or update the variable in "
            f"model_fn. {INSTEAD_OF_JAX}"
        )
