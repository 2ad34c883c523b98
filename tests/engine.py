"""Helpers of the tests of graph/ and runtime/: traces, runs side by side, runs on replicas."""

import os
import sys
import textwrap

import numpy as np
import tensorflow as tf
from forking import AT_LOAD, run_python

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import (
    BatchLayout,
    LoopRequest,
    ReplicaStep,
    Step,
    default_strategy,
    tpu_strategy,
)
from estimator_bridge.tensorflow_private.names import eager_mode

v1 = tf.compat.v1


def ref(element) -> str:
    """Returns the engine's name of a tensor, a variable's handle or an operation."""
    if isinstance(element, tf.Operation):
        return f"^{element.name}"
    return element.graph.as_graph_element(element).name


def lifted_session(graph, strategy=None, initialize=True):
    session = LiftedSession(graph, strategy or default_strategy())
    if initialize:
        initialize_all(session)
    return session


def initialize_all(session):
    """Runs the initializers of all variables and tables, as Scaffold's defaults do."""
    with session.graph.as_default():
        init = [
            v1.global_variables_initializer(),
            v1.local_variables_initializer(),
            v1.tables_initializer(),
        ]
    session.run(init[0])
    session.run(init[1:])


def same_as_v1(build, runs=1, seed=None, feeds=({},), rtol=1e-6):
    """Asserts that a program gives the same numbers lifted as in a v1.Session of its graph.

    Args:
      build: makes the program in the default graph and returns fetches, or a function of the
        number of a run that does.
      runs: number of runs of the fetches in one session.
      seed: the graph's seed.
      feeds: feed_dicts by name; run r uses the r-th, in turns.

    Returns:
      The fetched values of each run.
    """
    with trace_graph(seed) as graph:
        fetches = build()
    outcomes = []
    for session in (v1.Session(graph=graph), lifted_session(graph, initialize=False)):
        initialize_all(session)
        outcomes.append([session.run(fetches, feeds[i % len(feeds)]) for i in range(runs)])
        session.close()
    expected, got = outcomes
    tf.nest.map_structure(
        lambda a, b: (
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-7)
            if np.asarray(a).dtype.kind in "fc"
            else np.testing.assert_array_equal(a, b)
        ),
        expected,
        got,
    )
    return got


class Replicas:
    """Runs steps of a traced graph on emulated cores, one call each.

    Args:
      graph: the traced graph.
      cores: number of cores.
      tensors: the tensors that a call returns.
      operations: further operations that it runs.
      inputs: the tensors that a call's batch replaces.
      layout: the layout of a batch; by default it is split.
      **request: further fields of LoopRequest.
    """

    def __init__(self, graph, cores, tensors, operations=(), inputs=(), layout=None, **request):
        self.strategy = tpu_strategy(master=f"emulated:{cores}")
        self.session = lifted_session(graph, self.strategy)
        self._names = [ref(t) for t in tensors]
        self._step = ReplicaStep(
            self.session,
            self.strategy,
            Step([ref(i) for i in inputs], [ref(o) for o in operations]),
            layout or BatchLayout(),
            LoopRequest(self._names, **request),
        )
        self._function = tf.function(
            lambda rng_step, *batch: self._step(list(batch), rng_step), autograph=False
        )

    def __call__(self, *batch, rng_step=0):
        """Returns one list a requested tensor, of its value on each replica."""
        with eager_mode():
            values = self._function(tf.constant(rng_step, tf.int64), *map(tf.constant, batch))
            local = self.strategy.experimental_local_results
            return [[part.numpy() for part in local(values[name])] for name in self._names]

    def copies(self, variable):
        """Returns a variable's value on each replica."""
        with eager_mode():
            return [c.numpy() for c in self.session.resources.copies(variable.op.name)]


def run_program(source, arguments=(), **environment):
    """Runs a program in a separate process; returns the lines of its output."""
    result = run_python(
        ["-c", textwrap.dedent(source), *arguments],
        environment={
            **os.environ,
            **AT_LOAD,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **environment,
        },
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()
