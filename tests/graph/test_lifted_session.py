"""The uses of a session by savers, hooks and variables work with a lifted one."""

import numpy as np
import pytest
import tensorflow as tf
from engine import initialize_all, lifted_session, ref, v1

from estimator_bridge.graph import LiftedSession, continue_trace, trace_graph
from estimator_bridge.runtime import default_strategy, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode


@pytest.fixture
def graph():
    with trace_graph() as graph:
        yield graph


def two_variables():
    return (
        v1.get_variable("a", initializer=[1.0, 2.0]),
        v1.get_variable("scope/b", initializer=tf.constant(7, tf.int64)),
    )


def test_a_saver_saves_and_restores(graph, tmp_path):
    a, b = two_variables()
    saver = v1.train.Saver()
    session = lifted_session(graph)
    path = saver.save(session, str(tmp_path / "model.ckpt"), global_step=3)
    assert dict(tf.train.list_variables(path)) == {"a": [2], "scope/b": []}
    assert tf.train.latest_checkpoint(str(tmp_path)) == path

    other = LiftedSession(graph, default_strategy())
    assert len(other.run(v1.report_uninitialized_variables())) == 2
    saver.restore(other, path)
    np.testing.assert_array_equal(other.run(a), [1.0, 2.0])
    assert other.run(b) == 7


def test_its_checkpoint_is_read_by_a_v1_session_and_back(graph, tmp_path):
    a, _ = two_variables()
    saver = v1.train.Saver()
    session = lifted_session(graph)
    a.load([3.0, 4.0], session)
    path = saver.save(session, str(tmp_path / "model.ckpt"))
    with v1.Session(graph=graph) as old:
        saver.restore(old, path)
        np.testing.assert_array_equal(old.run(a), [3.0, 4.0])
        a.load([5.0, 6.0], old)
        path = saver.save(old, str(tmp_path / "old.ckpt"))
    saver.restore(session, path)
    np.testing.assert_array_equal(session.run(a), [5.0, 6.0])


def test_a_restore_of_another_shape_says_so(graph, tmp_path):
    two_variables()
    path = v1.train.Saver().save(lifted_session(graph), str(tmp_path / "model.ckpt"))
    with trace_graph() as other:
        v1.get_variable("a", shape=[3])
        saver = v1.train.Saver()
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"Restoring from checkpoint failed.*a mismatch between",
        ):
            saver.restore(lifted_session(other), path)


def test_load_and_eval(graph):
    a, _ = two_variables()
    total = tf.reduce_sum(a)
    session = lifted_session(graph)
    a.load([10.0, 20.0], session)
    assert total.eval(session=session) == 30.0
    with session:
        np.testing.assert_array_equal(a.eval(), [10.0, 20.0])
        assert total.eval() == 30.0
        assert total.eval({a.value(): [1.0, 1.0]}) == 30.0  # another read than the sum's
        a.initializer.run()
        assert total.eval() == 3.0
        assert v1.get_default_session() is session
        assert tf.constant(4).eval() == 4  # made below the session, in its graph
    with session.as_default():
        assert total.eval() == 3.0


def test_what_a_session_writes_reaches_every_replica(graph):
    a, _ = two_variables()
    session = lifted_session(graph, tpu_strategy(master="emulated:4"))
    a.load([3.0, 5.0], session)
    with eager_mode():
        copies = [copy.numpy().tolist() for copy in session.resources.copies("a")]
    assert copies == [[3.0, 5.0]] * 4
    with tpu_strategy(master="emulated:4").scope():
        np.testing.assert_array_equal(session.run(a), [3.0, 5.0])


def test_a_closed_session_refuses(graph):
    a, _ = two_variables()
    session = lifted_session(graph)
    assert not session.should_stop()
    session.close()
    session.close()
    assert session.should_stop()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(a)
    with pytest.raises(RuntimeError, match="closed Session"), session:
        pass
    with pytest.raises(RuntimeError, match="closed Session"):
        session.evaluate([ref(a.value())])


def test_a_graph_that_grew_after_the_first_run(graph):
    a, _ = two_variables()
    session = lifted_session(graph)
    assert session.run(tf.reduce_sum(a)) == 3.0
    with continue_trace(graph):
        c = v1.get_variable("c", initializer=1.5)
        total = tf.reduce_sum(a) + c
        assert session.run(v1.report_uninitialized_variables()).tolist() == [b"c"]
        session.run(c.initializer)
        assert session.run(total) == 4.5
        assert session.run(v1.report_uninitialized_variables()).tolist() == []


def test_reading_before_the_initializer_names_the_variable(graph):
    a, _ = two_variables()
    session = LiftedSession(graph, default_strategy())
    assert not session.run(v1.is_variable_initialized(a))
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value 'a'"):
        session.run(a)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value 'a'"):
        session.run(a.assign_add([1.0, 1.0]))
    assert session.run(a.assign([4.0, 5.0])).tolist() == [4.0, 5.0]


def test_two_sessions_of_a_graph_have_variables_of_their_own(graph):
    a, _ = two_variables()
    first, second = lifted_session(graph), lifted_session(graph)
    a.load([0.0, 0.0], first)
    np.testing.assert_array_equal(second.run(a), [1.0, 2.0])


def test_another_trace_may_share_the_variables(graph):
    a, _ = two_variables()
    session = LiftedSession(graph, default_strategy())
    with trace_graph() as evaluation:
        again = v1.get_variable("a", shape=[2])
        own = v1.get_variable("own", initializer=9.0)
        shared = LiftedSession(evaluation, default_strategy(), session.resources)
        shared.run(own.initializer)
    initialize_all(session)  # after the other session met the variable
    np.testing.assert_array_equal(shared.run(again), [1.0, 2.0])
    a.load([5.0, 5.0], session)
    np.testing.assert_array_equal(shared.run(again), [5.0, 5.0])
    assert shared.run(own) == 9.0


def test_a_monitored_style_scaffold(graph):
    two_variables()
    step = v1.train.get_or_create_global_step()
    scaffold = v1.train.Scaffold(init_fn=lambda scaffold, session: step.load(5, session))
    scaffold.finalize()
    session = LiftedSession(graph, default_strategy())
    session.run(scaffold.init_op)
    session.run(scaffold.local_init_op)
    scaffold.init_fn(session)
    assert session.run(scaffold.ready_op).tolist() == []
    assert v1.train.global_step(session, step) == 5


def test_partial_runs_are_refused(graph):
    session = lifted_session(graph)
    with pytest.raises(NotImplementedError, match="run\\(\\) with all feeds"):
        session.partial_run_setup([])
    with pytest.raises(NotImplementedError, match="run\\(\\) with all feeds"):
        session.partial_run(None, [])


def test_a_sum_over_replicas_is_refused_by_the_host(graph):
    total = v1.tpu.cross_replica_sum(tf.constant(1.0), [[0, 1]])
    assert lifted_session(graph).run(total) == 1.0
    session = lifted_session(graph, tpu_strategy(master="emulated:2"))
    with pytest.raises(NotImplementedError, match="cross-replica sum over 2 replicas"):
        session.run(total)
