"""Programs that turned off resource variables, or all of TF2's behavior."""

import numpy as np
import pytest
import tensorflow as tf
from engine import Replicas, run_program, same_as_v1, v1

from estimator_bridge.graph import trace_graph

_PROGRAM = """
    import tensorflow as tf
    {between}
    import estimator_bridge
    from estimator_bridge.graph import LiftedSession, trace_graph
    from estimator_bridge.runtime import default_strategy, tpu_strategy
    {after}
    v1 = tf.compat.v1
    strategy = tpu_strategy(master="emulated:2")
    with trace_graph(seed=1) as graph:
        w = v1.get_variable("w", initializer=2.0, use_resource=False)
        u = tf.Variable(3.0, name="u")
        late = v1.Variable(w.initialized_value() * 2.0, name="late")
        step = v1.train.create_global_step()
        x = v1.layers.dense(tf.ones([1, 2]), 2, name="dense")
        loss = tf.reduce_sum(x * w) + u
        train = v1.train.AdamOptimizer(0.1).minimize(loss, step)
        branch = tf.cond(u > 0.0, lambda: tf.identity(w), lambda: tf.identity(u))
        init = v1.global_variables_initializer()
        saver = v1.train.Saver()
    session = LiftedSession(graph, strategy)
    session.run(init)
    print(*session.run([late, branch, step]))
    session.run(train)
    print(session.run(step), session.run(w) != 2.0)
    print(sorted({{op.type for op in graph.get_operations() if "Variable" in op.type}}
          & {{"Variable", "VariableV2"}}))
"""
_OFF = "tf.compat.v1.disable_v2_behavior()"


@pytest.mark.parametrize(
    "places",
    [
        {"between": _OFF},
        {"after": _OFF},
        {"after": "tf.compat.v1.disable_resource_variables()"},
    ],
    ids=str,
)
def test_with_v2_behavior_off(places):
    source = _PROGRAM.format(**{"between": "", "after": "", **places})
    assert run_program(source)[-3:] == ["4.0 2.0 0", "1 True", "[]"]


def test_a_reference_variable_becomes_a_resource():
    def build():
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer(), use_resource=False)
        u = v1.Variable(5.0, use_resource=False)
        with tf.control_dependencies([w.assign_add([1.0, 2.0])]):
            total, before = w.read_value(), u.read_value()
        with tf.control_dependencies([total, before]):
            return total, before, v1.assign(u, 6.0), v1.scatter_add(w, [0], [1.0])

    same_as_v1(build, runs=2)


def test_on_replicas_each_has_a_copy():
    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [1])
        w = v1.get_variable("w", initializer=[0.0], use_resource=False)
        add = w.assign_add(x)
    replicas = Replicas(graph, 2, [add], [], [x])
    replicas([1.0, 5.0])
    np.testing.assert_array_equal(replicas.copies(w), [[1.0], [5.0]])
