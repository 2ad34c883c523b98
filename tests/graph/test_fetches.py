"""LiftedSession.run accepts the fetches and feeds of tf.compat.v1.Session.run."""

import collections
import types

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, v1

from estimator_bridge.graph import trace_graph

Pair = collections.namedtuple("Pair", ["first", "second"])


class Parts:
    """A class like one of the attrs package, which need not be installed."""

    __attrs_attrs__ = (types.SimpleNamespace(name="left"), types.SimpleNamespace(name="right"))

    def __init__(self, left, right):
        self.left, self.right = left, right


@pytest.fixture
def graph():
    with trace_graph() as graph:
        yield graph


def test_nested_fetches_keep_their_structure(graph):
    a, b = tf.constant(1), tf.constant([2.0, 3.0])
    operation = tf.no_op()
    structure = collections.OrderedDict(
        one=a, many=[b, (a, [operation])], pair=Pair(a, {"x": b}), parts=Parts(b, [a])
    )
    got = lifted_session(graph).run(structure)
    assert list(got) == ["one", "many", "pair", "parts"]
    assert type(got) is collections.OrderedDict
    assert got["one"] == 1
    np.testing.assert_array_equal(got["many"][0], [2.0, 3.0])
    assert got["many"][1] == (1, [None])
    assert got["pair"].first == 1
    np.testing.assert_array_equal(got["pair"].second["x"], [2.0, 3.0])
    np.testing.assert_array_equal(got["parts"].left, [2.0, 3.0])
    assert got["parts"].right == [1]


def test_empty_structures_compute_nothing(graph):
    session = lifted_session(graph)
    assert session.run([]) == []
    assert session.run({"a": ()}) == {"a": ()}


def test_names_strings_and_scalars(graph):
    tf.constant(b"caf\xc3\xa9", name="text")
    tf.constant(["a", ""], name="texts")
    tf.constant(5, name="five")
    session = lifted_session(graph)
    text, texts, five, operation = session.run(["text:0", "texts:0", "five:0", "five"])
    assert text == b"caf\xc3\xa9"
    assert texts.tolist() == [b"a", b""]
    assert five == 5 and isinstance(five, np.int32)
    assert operation is None


def test_a_variable_by_object_by_name_and_as_operation(graph):
    with v1.variable_scope("scope"):
        w = v1.get_variable("w", initializer=[1.0, 2.0])
    session = lifted_session(graph)
    for fetch in (w, w.name, "scope/w:0", w.value(), w.read_value()):
        np.testing.assert_array_equal(session.run(fetch), [1.0, 2.0])
    assert session.run(w.op) is None


def test_composite_tensors(graph):
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [7, 8], [2, 3])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4]), tf.constant([9, 1]))
    open_slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4]))
    ragged = tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 3]])
    got = lifted_session(graph).run([sparse, slices, open_slices, {"r": ragged}])
    assert isinstance(got[0], v1.SparseTensorValue)
    assert got[0].indices.tolist() == [[0, 1], [1, 0]]
    assert (got[0].values.tolist(), got[0].dense_shape.tolist()) == ([7, 8], [2, 3])
    assert type(got[1]).__name__ == "IndexedSlicesValue"
    assert (got[1].indices.tolist(), got[1].dense_shape.tolist()) == ([4], [9, 1])
    assert got[2].dense_shape is None
    assert got[3]["r"].to_list() == [[[1], [2, 3]]]


def test_the_same_fetch_twice_is_computed_once(graph):
    counter = v1.get_variable("counter", initializer=0)
    step = counter.assign_add(1)
    session = lifted_session(graph)
    assert session.run([step, step, {"again": step}]) == [1, 1, {"again": 1}]


def test_feeds_of_placeholders_and_intermediate_tensors(graph):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    doubled = x * 2.0
    total = tf.reduce_sum(doubled)
    session = lifted_session(graph)
    assert session.run(total, {x: [[1, 2], [3, 4]]}) == 20.0
    assert session.run(total, {"x:0": np.ones([3, 2])}) == 12.0
    assert session.run(total, {doubled: [[1.0, 1.0]]}) == 2.0  # x is not needed
    np.testing.assert_array_equal(session.run(x, {x: [[5, 6]]}), [[5, 6]])


def test_feeds_of_strings_and_default_placeholders(graph):
    name = v1.placeholder(tf.string, [], name="name")
    greeting = tf.strings.join(["hello ", name])
    times = v1.placeholder_with_default(2, [])
    session = lifted_session(graph)
    assert session.run(greeting, {name: "you"}) == b"hello you"
    assert session.run(times) == 2
    assert session.run(times, {times: 3}) == 3


def test_feeds_of_composite_tensors_and_tuples(graph):
    sparse = v1.sparse_placeholder(tf.float32, [2, 2])
    ragged = v1.ragged.placeholder(tf.int32, 1)
    a, b = v1.placeholder(tf.int32, []), v1.placeholder(tf.int32, [])
    session = lifted_session(graph)
    dense = tf.sparse.to_dense(sparse)
    value = v1.SparseTensorValue([[0, 1]], [5.0], [2, 2])
    np.testing.assert_array_equal(session.run(dense, {sparse: value}), [[0, 5], [0, 0]])
    plain = ([[1, 0]], [6.0], [2, 2])
    np.testing.assert_array_equal(session.run(dense, {sparse: plain}), [[0, 0], [6, 0]])
    rows = v1.ragged.constant_value([[1, 2], [3]], dtype=np.int32, row_splits_dtype="int64")
    assert session.run(tf.reduce_sum(ragged, axis=1), {ragged: rows}).tolist() == [3, 3]
    assert session.run(a - b, {(a, b): (7, 4)}) == 3


def test_an_operation_that_waits_for_a_placeholder(graph):
    x = v1.placeholder(tf.float32, [])
    with tf.control_dependencies([x]):
        one = tf.constant(1.0)
    w = v1.get_variable("w", initializer=3.0)
    with tf.control_dependencies([w]):
        two = w + 1.0
    session = lifted_session(graph)
    assert session.run([one, two], {x: 0.0}) == [1.0, 4.0]


def test_a_missing_placeholder_is_named(graph):
    x = v1.placeholder(tf.float32, [], name="scope/x")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must feed a value.*'scope/x'"):
        lifted_session(graph).run(x + 1.0)


def test_a_feed_of_another_shape(graph):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\).*'x:0'.*\(None, 2\)"):
        lifted_session(graph).run(x, {x: [1, 2, 3]})


@pytest.mark.parametrize("value", ["text", [[1], [1, 2]]])
def test_a_feed_of_another_type(graph, value):
    x = v1.placeholder(tf.float32, name="x")
    with pytest.raises((TypeError, ValueError)):
        lifted_session(graph).run(x, {x: value})


def test_a_graph_tensor_as_a_feed(graph):
    x = v1.placeholder(tf.float32, [], name="x")
    with pytest.raises(TypeError, match=r"cannot be a tf.Tensor object"):
        lifted_session(graph).run(x, {x: tf.constant(1.0)})


def test_a_tensor_of_another_graph(graph):
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    session = lifted_session(graph)
    with pytest.raises(ValueError, match=r"foreign.*cannot be interpreted"):
        session.run(foreign)
    with pytest.raises(TypeError, match="feed_dict key"):
        session.run([], {foreign: 1.0})


@pytest.mark.parametrize("fetch", [None, 3, [object()]])
def test_what_is_no_fetch(graph, fetch):
    with pytest.raises(TypeError, match="invalid type"):
        lifted_session(graph).run(fetch)


def test_a_name_that_is_not_there(graph):
    with pytest.raises(ValueError, match="nowhere"):
        lifted_session(graph).run("nowhere:0")


def test_make_callable(graph):
    x = v1.placeholder(tf.int32, [])
    call = lifted_session(graph).make_callable(x * 2, [x])
    assert call(21) == 42
