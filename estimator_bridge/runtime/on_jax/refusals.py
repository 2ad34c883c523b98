"""Refuses, before anything runs, what steps on JAX do not have yet."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.errors import INSTEAD_OF_JAX, NotCompilableError, NotOnJaxError
from estimator_bridge.graph import LiftedSession, Snapshot
from estimator_bridge.graph.compilable import find_obstacles, not_compilable
from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.randomness import has_same_draws, is_seeded
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.runtime.step import ReplicaStep

__all__ = ["check_step"]


def check_step(run: ReplicaStep, session: LiftedSession, strategy: Any) -> None:
    """Checks that JAX can run a replica's step.

    Raises:
      NotCompilableError: XLA lacks an operation, or cannot give a result a static shape.
      NotOnJaxError: the host has a part in the middle of the step, or a draw has no position.
    """
    graph, name = session.graph, strategy.jax_name
    obstacles = find_obstacles(graph, run.names, for_tpu=True)
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
        draws = is_seeded(node) and node.name not in with_position
        may_differ = strategy.device_draws or node.name not in with_position
        if not (may_differ or has_same_draws(node)):
            raise NotOnJaxError(
                f"{node.name!r} ({node.op} of {tf.as_dtype(node.attr['dtype'].type).name}), at "
                f"{line_of_node(graph, node.name)}: XLA would draw other numbers than TensorFlow. "
                f"Steps on {name} draw uniform and normal floats, and integers. {INSTEAD_OF_JAX}"
            )
        if draws or called_functions(node) & random_functions:
            raise NotOnJaxError(
                f"{node.name!r} draws random numbers ({node.op}), at "
                f"{line_of_node(graph, node.name)}, without a position that a resumed run could "
                "continue from: it is a shuffle, a sampler, or in a loop or branch. Steps on "
                f"{name} have no such streams, and XLA would ignore the seed. {INSTEAD_OF_JAX}"
            )
