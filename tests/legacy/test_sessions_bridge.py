"""A program's own sessions on emulated cores."""

import pytest
import tensorflow as tf

from estimator_bridge.legacy.running.bridges.sessions import run_sessions_on_cores

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def bridged():
    kinds = (v1.Session, v1.InteractiveSession)
    before = [kind.__init__ for kind in kinds], v1.Session.reset
    run_sessions_on_cores()
    run_sessions_on_cores()  # to call it again changes nothing
    yield
    for kind, initialize in zip(kinds, before[0]):
        kind.__init__ = initialize
    v1.Session.reset = staticmethod(before[1])


def test_reset_of_emulated_cores_leaves_open_sessions_alone():
    with tf.Graph().as_default() as graph, v1.Session("emulated:2", graph) as session:
        v1.Session.reset("emulated:2")
        assert session.run(tf.constant(3) + 4) == 7


def test_reset_of_another_machine_is_tensorflows_affair():
    with pytest.raises(tf.errors.NotFoundError, match="no-such-scheme"):
        v1.Session.reset("no-such-scheme://host")
