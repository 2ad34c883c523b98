"""numpy_input_fn: its contents, their order, and its errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge.data import call_input_fn
from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.inputs import numpy_input_fn
from estimator_bridge.runtime import default_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

v1 = tf.compat.v1


def batches(input_fn, most=None, seed=None):
    """The batches that an estimator would see."""
    with trace_graph(seed) as graph:
        inputs = call_input_fn(input_fn, graph)
    dataset = inputs.dataset(LiftedSession(graph, default_strategy()))
    with eager_mode():
        return list(itertools.islice(dataset.as_numpy_iterator(), most))


def session_batches(input_fn):
    """The batches that a plain session sees, to the end of the input."""
    with tf.Graph().as_default() as graph:
        tensors = input_fn()
        with v1.Session(graph=graph) as session:
            coordinator = v1.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            results = []
            try:
                while True:
                    results.append(session.run(tensors))
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
    assert not any(thread.is_alive() for thread in threads)
    return results


@settings(deadline=None, max_examples=15)
@given(count=st.integers(1, 9), size=st.integers(1, 12), epochs=st.integers(0, 3))
def test_batches_go_over_the_borders_of_epochs(count, size, epochs):
    x, y = {"a": np.arange(count), "b": np.arange(2.0 * count).reshape(count, 2)}, -np.arange(count)
    read_batches = batches(numpy_input_fn(x, y, size, epochs, shuffle=False))
    assert all(len(labels) == size for _, labels in read_batches[:-1])
    for read, array in [
        ([f["a"] for f, _ in read_batches], x["a"]),
        ([f["b"] for f, _ in read_batches], x["b"]),
        ([labels for _, labels in read_batches], y),
    ]:
        expected = np.concatenate([array] * epochs) if epochs else array[:0]
        np.testing.assert_array_equal(np.concatenate([array[:0], *read]), expected)


@pytest.mark.parametrize("epochs", [0, 1, 3])
def test_a_plain_session_sees_the_same(epochs):
    input_fn = numpy_input_fn({"a": np.arange(5)}, np.arange(5.0), 3, epochs, shuffle=False)
    expected = [(f["a"].tolist(), labels.tolist()) for f, labels in batches(input_fn)]
    got = [(f["a"].tolist(), labels.tolist()) for f, labels in session_batches(input_fn)]
    assert got == expected
    assert len(got) == -(-5 * epochs // 3)


def test_without_a_bound_batches_are_full_for_ever():
    input_fn = numpy_input_fn(np.arange(5), batch_size=3, num_epochs=None, shuffle=False)
    read_batches = batches(input_fn, most=4)
    assert np.concatenate(read_batches).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    with tf.Graph().as_default():
        assert input_fn().shape.as_list() == [3]
        bounded = numpy_input_fn(np.ones([5, 2]), batch_size=3, shuffle=False)()
        assert bounded.shape.as_list() == [None, 2]


@pytest.mark.parametrize("read", [batches, session_batches])
def test_shuffling_loses_no_example_and_changes_the_order(read):
    read_batches = read(numpy_input_fn(np.arange(200), batch_size=30, num_epochs=2, shuffle=True))
    rows = np.concatenate(read_batches)
    assert sorted(rows) == sorted([*range(200)] * 2)
    assert rows.tolist() != np.roll(np.tile(np.arange(200), 2), rows[0]).tolist()
    assert {len(batch) for batch in read_batches[:-1]} == {30}


def test_a_seed_settles_the_order():
    input_fn = numpy_input_fn(np.arange(50), batch_size=50, shuffle=True)
    (one,), (same,), (other,) = (batches(input_fn, seed=seed) for seed in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()
    (free,), (another,) = batches(input_fn), batches(input_fn)
    assert free.tolist() != another.tolist()


@pytest.mark.parametrize("read", [batches, session_batches])
def test_each_thread_reads_all_epochs(read):
    input_fn = numpy_input_fn(np.arange(6), batch_size=4, shuffle=True, num_threads=3)
    assert sorted(np.concatenate(read(input_fn))) == sorted([*range(6)] * 3)


@pytest.mark.parametrize("read", [batches, session_batches])
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (np.arange(4.0).reshape(2, 2), None, [[0, 1], [2, 3]]),
        (np.array(["a", "bc"]), None, [b"a", b"bc"]),
        (np.array(["a", "bc"], object), None, [b"a", b"bc"]),
        (np.array([True, False]), np.array([1, 2], np.uint8), ([True, False], [1, 2])),
        (np.ones(1), {"q": np.ones(1), "p": np.zeros(1)}, ([1], {"p": [0], "q": [1]})),
        ({"__target_key__": np.arange(2)}, np.arange(2), ({"__target_key__": [0, 1]}, [0, 1])),
    ],
)  # fmt: skip
def test_structures_and_types(read, x, y, expected):
    (batch,) = read(numpy_input_fn(x, y, shuffle=False))
    assert tf.nest.map_structure(lambda leaf: leaf.tolist(), batch) == expected


def test_the_arrays_are_not_changed_nor_copied_into_the_graph():
    x = {"a": np.zeros([1000, 1000])}
    with tf.Graph().as_default() as graph:
        numpy_input_fn(x, shuffle=False)()
        assert graph.as_graph_def().ByteSize() < 20_000
    assert list(x) == ["a"]


def test_the_graph_is_the_one_that_seeds_count_on():
    # A random op without a seed takes one from the number of operations before it.
    with tf.Graph().as_default() as graph:
        features, labels = numpy_input_fn(
            {"b": np.ones(4), "a": np.ones(4)}, np.ones(4), shuffle=False
        )()
        names = [operation.name for operation in graph.get_operations()]
        summaries = v1.get_collection(v1.GraphKeys.SUMMARIES)
    assert len(names) == 20
    assert names[0] == "enqueue_input/fifo_queue"
    assert names[-1] == "fifo_queue_DequeueUpTo"
    assert features["a"].name == "fifo_queue_DequeueUpTo:1"
    assert labels.name == "fifo_queue_DequeueUpTo:3"
    assert [s.op.name for s in summaries] == [
        "enqueue_input/queue/enqueue_input/fifo_queuefraction_over_0_of_1000_full"
    ]  # fmt: skip


def test_an_error_while_reading_reaches_the_session():
    class Broken:
        shape, dtype = (4,), np.dtype("float32")

        def __getitem__(self, numbers):
            raise OSError("the disk is gone")

    with tf.Graph().as_default(), v1.Session() as session:
        features = numpy_input_fn({"x": Broken()}, shuffle=False)()
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(features)
        with pytest.raises(OSError, match="the disk is gone"):
            coordinator.join(threads)


X = {"a": np.arange(4), "b": np.arange(4)}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": [1, 2]}, TypeError, "x must be a dict or array; got list"),
        ({"x": {}}, ValueError, "x cannot be an empty dict"),
        ({"x": np.array([[], []])}, ValueError, "x cannot be an empty array"),
        ({"x": {"a": np.zeros([0, 3])}}, ValueError, "x has no examples"),
        ({"x": {"a": [1, 2]}}, TypeError, r"x\['a'\] must be an array, got list"),
        ({"x": np.array(3)}, ValueError, "x is a scalar"),
        ({"x": X, "y": {}}, ValueError, "y cannot be empty dict, use None instead"),
        ({"x": X, "y": [1, 2, 3, 4]}, TypeError, "y must be an array, got list"),
        ({"x": X, "y": np.arange(3)}, ValueError, r"(?s)in x and y is mismatched.*\(4,\).*\(3,\)"),
        ({"x": {**X, "b": np.arange(3)}}, ValueError, "Length of tensors in x and y is mismatched"),
        (
            {"x": X, "y": {"b": X["b"], "c": X["b"]}},
            ValueError,
            "1 duplicate keys are found in both x and y: {'b'}",
        ),
        ({"x": np.array([1, 2], "datetime64[s]")}, TypeError, "datetime64.* TensorFlow does not"),
    ],
)
def test_what_it_refuses_when_called(arguments, error, message):
    input_fn = numpy_input_fn(**arguments, shuffle=False)
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        input_fn()


@pytest.mark.parametrize("shuffle", [None, 1, "yes"])
def test_shuffle_must_be_given(shuffle):
    with pytest.raises(ValueError, match="shuffle must be provided and explicitly set as boolean"):
        numpy_input_fn(X, shuffle=shuffle)


def test_it_says_that_it_needs_a_graph():
    with eager_mode(), pytest.raises(RuntimeError, match="there is no graph here"):
        numpy_input_fn(X, shuffle=False)()


def linear(features, labels, mode):
    """Learns labels = 3 * features."""
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    predicted = weight * features["x"]
    loss = None if labels is None else tf.reduce_mean(tf.square(predicted - labels))
    train_op = None
    if mode == eb.ModeKeys.TRAIN:
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, {"y": predicted}, loss, train_op)


def test_an_estimator_trains_evaluates_and_predicts(tmp_path):
    x = np.linspace(-1, 1, 50, dtype=np.float32)
    traced = []

    def model_fn(features, labels, mode):
        traced.append(mode)
        return linear(features, labels, mode).as_estimator_spec()

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(numpy_input_fn({"x": x}, 3 * x, 16, None, shuffle=True), steps=100)
    assert estimator.get_variable_value("weight") == pytest.approx(3, abs=0.1)
    evaluated = numpy_input_fn({"x": x}, 3 * x, 16, shuffle=False)
    assert estimator.evaluate(evaluated) == estimator.evaluate(evaluated)
    predicted = [p["y"] for p in estimator.predict(numpy_input_fn({"x": x}, shuffle=False))]
    np.testing.assert_allclose(predicted, 3 * x, atol=0.1)
    assert traced == ["train", "eval", "infer"]  # the second evaluation used the first one's graph


def test_it_feeds_the_replicas_of_a_tpu_estimator(tmp_path):
    x = np.linspace(-1, 1, 64, dtype=np.float32)

    def input_fn(params):
        return numpy_input_fn({"x": x}, 3 * x, params["batch_size"], None, shuffle=False)()

    config = eb.tpu.RunConfig(model_dir=str(tmp_path), master="emulated:2")
    estimator = eb.tpu.TPUEstimator(linear, config=config, train_batch_size=16, eval_batch_size=16)
    estimator.train(input_fn, steps=100)
    assert estimator.get_variable_value("weight") == pytest.approx(3, abs=0.1)
    assert estimator.evaluate(input_fn, steps=4)["loss"] < 0.01
