"""A session's queue runners, and sessions used by several threads."""

import threading

import pytest
import tensorflow as tf
from engine import initialize_all, ref, v1

from estimator_bridge.graph import Lifted, LiftedSession, Snapshot, trace_graph
from estimator_bridge.runtime import default_strategy


def counting_queue(limit=None, capacity=5):
    """A queue that a runner fills with 1, 2, 3, ..."""
    count = v1.get_local_variable("count", [], tf.int64, v1.zeros_initializer())
    if limit is not None:
        limited = v1.train.limit_epochs(tf.constant(0, tf.int64), limit)
        with tf.control_dependencies([limited]):
            following = v1.assign_add(count, 1)
    else:
        following = v1.assign_add(count, 1)
    queue = v1.FIFOQueue(capacity, [tf.int64], [[]])
    v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue([following])]))
    return queue


def started(graph):
    session = LiftedSession(graph, default_strategy())
    initialize_all(session)
    session.queues.start(session)
    return session


def own_threads():
    return [t for t in threading.enumerate() if t.name.startswith("QueueRunnerThread")]


def test_runners_fill_a_queue_until_they_are_stopped():
    with trace_graph() as graph:
        element = counting_queue().dequeue()
    session = started(graph)
    assert session.queues.are_running
    assert [int(session.run(element)) for _ in range(12)] == [*range(1, 13)]
    assert own_threads()
    session.end_input()
    assert not session.queues.are_running
    assert own_threads() == []
    session.close()


def test_a_runner_that_ends_closes_its_queue():
    with trace_graph() as graph:
        element = counting_queue(limit=3).dequeue()
    session = started(graph)
    assert [int(session.run(element)) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(element)
    session.queues.check()  # an end is no error
    session.close()
    assert own_threads() == []


def test_a_runner_that_fails_is_heard_of():
    with trace_graph() as graph:
        queue = v1.FIFOQueue(3, [tf.float32], [[]])
        bad = tf.strings.to_number(tf.constant("no number"))
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue([bad])]))
        element = queue.dequeue()
    session = started(graph)
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(element)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
        session.queues.check()
    session.close()
    assert own_threads() == []


def test_the_end_of_the_input_ends_whoever_waits_for_its_queues():
    with trace_graph() as graph:
        queue = counting_queue(capacity=1)
        empty = v1.FIFOQueue(1, [tf.int64], [[]]).dequeue()
        element = queue.dequeue()
    session = started(graph)
    session.run(element)
    ended = []

    def wait():
        try:
            session.run(empty)
        except tf.errors.OutOfRangeError as error:
            ended.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while ref(empty.op.inputs[0]) not in {f"{name}:0" for name in session.resources._hosted}:
        waiting.join(0.01)
    session.end_input()
    waiting.join(20)
    assert len(ended) == 1
    session.close()


def test_many_threads_may_use_one_session():
    with trace_graph() as graph:
        total = v1.get_variable("total", [], tf.int64, v1.zeros_initializer())
        adds = [v1.assign_add(total, 1, use_locking=True) for _ in range(4)]
    session = LiftedSession(graph, default_strategy())
    initialize_all(session)
    errors = []

    def add(fetch):
        try:
            for _ in range(50):
                session.run(fetch)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=add, args=(fetch,)) for fetch in adds * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert session.run(total) == 400


def test_a_batch_that_is_given_makes_nothing_wait_for_its_queue():
    with trace_graph() as graph:
        batch = v1.FIFOQueue(1, [tf.float32], [[]]).dequeue()
        features = 2 * batch
        with tf.control_dependencies([features]):
            loss = features + 1
        with tf.control_dependencies([loss]):
            gate = tf.identity(loss, name="gate")
    lifted = Lifted(Snapshot.of(graph), [ref(gate)], {ref(features)})
    kinds = {graph.get_operation_by_name(name).type for name in lifted.names}
    assert "QueueDequeueV2" not in kinds


def test_a_value_waits_for_the_token_that_it_names():
    with trace_graph() as graph:
        tokens = v1.FIFOQueue(3, [tf.int32], [[]])
        put = tokens.enqueue_many([[1, 2]])
        with tf.control_dependencies([tokens.dequeue()]):
            value = tf.constant(7) + 0
        size = tokens.size()
    session = LiftedSession(graph, default_strategy())
    session.run(put)
    assert session.run(value) == 7
    assert session.run(size) == 1
    session.close()
