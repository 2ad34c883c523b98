"""Prepared calls of a session: what Session.run returns and raises, without its time."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge  # noqa: F401
from estimator_bridge.tensorflow_private.sessions import SessionCalls
from estimator_bridge_contrib import predictor

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1

FEEDS = {
    "an array": {"x": np.float32([1, 2])},
    "a list": {"x": [1, 2]},
    "another type of array": {"x": np.arange(3)},
    "a tuple": {"x": (1.0, 2.0)},
    "an empty list": {"x": []},
    "nothing where there is a default": {"x": [1], "offset": [5]},
    "a number": {"x": [1.0], "scalar": 3},
    "a number of NumPy": {"x": [1.0], "scalar": np.int32(3)},
    "strings": {"x": [1.0], "text": ["a", "bc"]},
    "bytes in an array": {"x": [1.0], "text": np.array([b"a", b"\0"], object)},
    "strings of NumPy": {"x": [1.0], "text": np.array(["a", "bcd"])},
    "a number that does not fit": {"x": [1.0], "scalar": 2**40},
    "a fraction for an integer": {"x": [1.0], "scalar": [2.5]},
    "a wrong shape": {"x": [[1.0, 2.0]]},
    "no number": {"x": ["a"]},
    "ragged lists": {"x": [[1], [1, 2]]},
    "a missing input": {"offset": [1]},
    "an eager tensor": {"x": tf.constant([1.0])},
    "what fails in the graph": {"x": [1.0], "position": np.int32(7)},
}


@pytest.fixture(scope="module")
def model():
    graph = tf.Graph()
    with graph.as_default():
        feeds = {
            "x": v1.placeholder(tf.float32, [None], "x"),
            "offset": v1.placeholder_with_default([1.0], [1], "offset"),
            "scalar": v1.placeholder_with_default(0, [], "scalar"),
            "text": v1.placeholder_with_default(["z"], [None], "text"),
            "position": v1.placeholder_with_default(0, [], "position"),
        }
        total = tf.add(feeds["x"], feeds["offset"], "total")
        fetches = {
            "total": total,
            "again": total,
            "sum": tf.reduce_sum(total),
            "scalar": feeds["scalar"] * 2,
            "text": tf.strings.join([feeds["text"], "!"]),
            "first text": tf.strings.join([feeds["text"][0], "."]),
            "picked": tf.constant([1, 2])[feeds["position"]],
            "is large": total > 2,
        }
    return graph, feeds, fetches


def outcome(function):
    try:
        return {key: (type(value), value) for key, value in function().items()}
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", ["session", "monitored"])
@pytest.mark.parametrize("case", FEEDS)
def test_results_and_errors_are_those_of_run(model, case, kind):
    graph, tensors, fetches = model
    feeds = {tensors[key]: value for key, value in FEEDS[case].items()}
    with graph.as_default(), v1.Session() if kind == "session" else monitored() as session:
        expected = outcome(lambda: session.run(fetches, feeds))
    with graph.as_default(), v1.Session() if kind == "session" else monitored() as session:
        calls = SessionCalls()
        for _ in range(2):
            got = outcome(lambda: calls.run(session, fetches, feeds))
            np.testing.assert_equal(got, expected)


def monitored(**settings):
    return v1.train.MonitoredSession(v1.train.ChiefSessionCreator(), **settings)


@pytest.mark.parametrize("kind", ["session", "monitored"])
def test_run_itself_is_not_called_for_arrays(model, kind, monkeypatch):
    graph, tensors, fetches = model
    with graph.as_default(), v1.Session() if kind == "session" else monitored() as session:
        monkeypatch.setattr(v1.Session, "_run", None)  # in which Session.run spends its time
        got = SessionCalls().run(session, fetches, {tensors["x"]: [1.0]})
    np.testing.assert_array_equal(got["total"], [2.0])


def test_what_a_program_puts_in_place_of_run_is_called(model, monkeypatch):
    graph, tensors, fetches = model
    with v1.Session(graph=graph) as session:
        session.run = lambda *args, **kwargs: "its own"
        assert SessionCalls().run(session, fetches, {}) == "its own"
    with v1.Session(graph=graph) as session:
        monkeypatch.setattr(v1.Session, "run", lambda *args, **kwargs: "of the class")
        assert SessionCalls().run(session, fetches, {}) == "of the class"

    class Delegating:
        def run(self, fetches, feed_dict=None):
            return fetches, feed_dict

    feeds = {tensors["x"]: [1.0]}
    assert SessionCalls().run(Delegating(), fetches, feeds) == (fetches, feeds)


def test_hooks_see_each_call(model):
    graph, tensors, fetches = model
    seen = []

    class Hook(v1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            seen.append(run_context.original_args.fetches)

    with graph.as_default(), monitored(hooks=[Hook()]) as session:
        calls = SessionCalls()
        for _ in range(2):
            calls.run(session, fetches, {tensors["x"]: [1.0]})
    assert seen == [fetches, fetches]


@pytest.mark.parametrize("kind", ["session", "monitored"])
def test_a_closed_session_says_so(model, kind):
    graph, tensors, fetches = model
    calls, feeds = SessionCalls(), {tensors["x"]: [1.0]}
    with graph.as_default():
        session = v1.Session() if kind == "session" else monitored()
        calls.run(session, fetches, feeds)
        session.close()
    expected = outcome(lambda: session.run(fetches, feeds))
    assert outcome(lambda: calls.run(session, fetches, feeds)) == expected
    if kind == "session":
        assert expected == (RuntimeError, "Attempted to use a closed Session.")


def test_a_fetch_that_is_fed_returns_its_value(model):
    graph, tensors, _ = model
    with v1.Session(graph=graph) as session:
        got = SessionCalls().run(session, {"x": tensors["x"]}, {tensors["x"]: [4.0]})
    np.testing.assert_array_equal(got["x"], [4.0])


def test_a_tensor_of_another_graph_is_refused(model):
    graph, _, fetches = model
    with tf.Graph().as_default():
        stranger = v1.placeholder(tf.float32, [None], "x")
    with v1.Session(graph=graph) as session:
        calls, feeds = SessionCalls(), {stranger: [1.0]}
        with pytest.raises(TypeError, match="not an element of this graph"):
            calls.run(session, fetches, feeds)


@pytest.mark.parametrize("kind", ["session", "monitored"])
def test_a_monitored_session_is_asked_again_after_a_lost_call(model, kind, monkeypatch):
    graph, tensors, fetches = model
    run, attempts = v1.Session._do_call, []

    def lost_once(session, function, *args):
        attempts.append(session)
        if len(attempts) == 2:
            raise tf.errors.AbortedError(None, None, "the session is lost")
        return run(session, function, *args)

    with graph.as_default(), v1.Session() if kind == "session" else monitored() as session:
        calls, feeds = SessionCalls(), {tensors["x"]: [1.0]}
        monkeypatch.setattr(v1.Session, "_do_call", lost_once)
        np.testing.assert_array_equal(calls.run(session, fetches, feeds)["total"], [2.0])
        if kind == "session":
            with pytest.raises(tf.errors.AbortedError, match="the session is lost"):
                calls.run(session, fetches, feeds)
        for _ in range(2):
            np.testing.assert_array_equal(calls.run(session, fetches, feeds)["total"], [2.0])
    assert len(attempts) == 4


def test_a_predictor_of_ones_own_has_four_attributes():
    class Doubled(predictor.Predictor):
        def __init__(self):
            self._graph = tf.Graph()
            with self._graph.as_default():
                x = v1.placeholder(tf.float32, [None], "x")
                self._feed_tensors, self._fetch_tensors = {"x": x}, {"y": 2 * x}
            self._session = v1.Session(graph=self._graph)

    predict = Doubled()
    np.testing.assert_array_equal(predict({"x": [1, 2]})["y"], [2, 4])
    assert repr(predict).startswith("Doubled with feed tensors {'x': ")
    predict.fetch_tensors["input"] = predict.feed_tensors["x"]
    np.testing.assert_array_equal(predict({"x": [1, 2]})["input"], [1, 2])
    with pytest.raises(ValueError, match="unexpected keys in input_dict"):
        predict({"z": 1})
    predict.session.close()
