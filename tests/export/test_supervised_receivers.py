import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.export import (
    ServingInputReceiver,
    SupervisedInputReceiver,
    UnsupervisedInputReceiver,
    build_raw_serving_input_receiver_fn,
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _in_a_graph():
    with tf.Graph().as_default():
        yield


def _tensor(name="t"):
    return v1.placeholder(tf.float32, [None, 2], name=name)


def _shapes(tensors):
    return {name: (t.dtype, t.shape.as_list()) for name, t in tensors.items()}


def test_features_and_labels_stay_as_they_are():
    feature, label, fed = _tensor(), {"a": _tensor(), 3: _tensor()}, _tensor()
    receiver = SupervisedInputReceiver(feature, label, fed)
    assert receiver.features is feature
    assert receiver.labels is label
    assert receiver.receiver_tensors == {"input": fed}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((None, 1, 1), "features must be defined"),
        ((0, None, 1), "labels must be defined"),
        ((0, 1, None), "receiver_tensors must be defined"),
        (([1], 1, 1), r"feature must be a Tensor, SparseTensor, or RaggedTensor. Got \[1\]"),
        ((0, {1.5: 1}, 1), "label keys must be strings or ints: 1.5"),
        ((0, 1, {3: 1}), "receiver_tensor keys must be strings: 3"),
    ],
)
def test_what_is_wrong_is_named(values, message):
    tensors = [_tensor() if value in (0, 1) else value for value in values]
    with pytest.raises(ValueError, match=message):
        SupervisedInputReceiver(*tensors)


def test_without_labels_it_is_a_receiver_without_alternatives():
    receiver = UnsupervisedInputReceiver(_tensor(), _tensor())
    assert isinstance(receiver, ServingInputReceiver)
    assert list(receiver.features) == ["feature"]
    assert receiver.receiver_tensors_alternatives is None


class Wrapper:
    """As LabeledTensor is: TensorFlow can convert it, and it is none of TensorFlow's types."""

    def __init__(self, tensor):
        self.tensor = tensor


tf.register_tensor_conversion_function(
    Wrapper, lambda value, *args, **kwargs: tf.convert_to_tensor(value.tensor)
)


def test_a_wrapper_that_tensorflow_can_convert_passes():
    wrapper = Wrapper([1])
    assert ServingInputReceiver(wrapper, _tensor()).features == {"feature": wrapper}
    not_one = type("NotOne", (), {"tensor": 3})()
    with pytest.raises(ValueError, match="feature must be a Tensor"):
        ServingInputReceiver(not_one, _tensor())


def test_raw_receiver_feeds_features_and_labels_by_name():
    features = {"a": np.zeros([3, 2], np.float32), "b": tf.TensorSpec([None], tf.string)}
    receiver = build_raw_supervised_input_receiver_fn(features, np.zeros([3], np.int64))()
    assert list(receiver.features) == ["a", "b"]
    assert isinstance(receiver.labels, tf.Tensor)
    assert _shapes(receiver.receiver_tensors) == {
        "a": (tf.float32, [None, 2]),
        "b": (tf.string, [None]),
        "label": (tf.int64, [None]),
    }


def test_raw_receiver_of_single_tensors_and_a_fixed_batch():
    receiver = build_raw_supervised_input_receiver_fn(_tensor("pixels"), {"y": _tensor()}, 5)()
    assert receiver.features.shape.as_list() == [5, 2]
    assert receiver.receiver_tensors["input"] is receiver.features
    assert receiver.features.op.name == "pixels_1"  # of a graph in which there is one already


def test_raw_receiver_refuses_names_that_clash():
    x = _tensor()
    for features, labels in [({"a": x}, {"a": x}), ({"label": x}, x), (x, {"input": x})]:
        with pytest.raises(ValueError, match="Found overlapping keys: "):
            build_raw_supervised_input_receiver_fn(features, labels)
    with pytest.raises(TypeError, match="label label must have a dtype and a shape, got None"):
        build_raw_supervised_input_receiver_fn(x, None)


def test_receiver_of_an_input_fn():
    def input_fn(size, kind):
        x = {"x": tf.ones([size, 3]), "word": tf.constant(["a"] * size, name="word")}
        y = tf.ones([size, 1], tf.int32)
        return (x, y) if kind == "tensors" else tf.data.Dataset.from_tensors((x, y)).repeat()

    for kind in ("tensors", "dataset"):
        make = build_supervised_input_receiver_fn_from_input_fn(input_fn, size=4, kind=kind)
        with tf.Graph().as_default() as graph:
            receiver = make()
            assert receiver.labels.graph is graph
            assert _shapes(receiver.receiver_tensors) == {
                "x": (tf.float32, [None, 3]),
                "word": (tf.string, [None]),
                "label": (tf.int32, [None, 1]),
            }
            operations = {op.name for op in graph.get_operations()}
            assert ("word" in operations) == (kind == "tensors")
            assert {op.type for op in graph.get_operations()} == {"Placeholder"}  # no input_fn


def test_receiver_of_an_input_fn_without_labels():
    make = build_supervised_input_receiver_fn_from_input_fn(lambda: tf.ones([4, 3]))
    receiver = make()
    assert isinstance(receiver, UnsupervisedInputReceiver)
    assert list(receiver.receiver_tensors) == ["input"]


def test_sparse_and_ragged_features_are_fed_as_such():
    def input_fn():
        x = tf.data.Dataset.range(6)
        sparse = x.map(lambda i: tf.sparse.from_dense(tf.reshape(i, [1]))).batch(2)
        ragged = x.map(tf.range).ragged_batch(2)
        return tf.data.Dataset.zip(({"s": sparse, "r": ragged}, x.batch(2)))

    receiver = build_supervised_input_receiver_fn_from_input_fn(input_fn)()
    assert isinstance(receiver.features["s"], tf.SparseTensor)
    assert isinstance(receiver.features["r"], tf.RaggedTensor)
    assert receiver.features["r"].shape.as_list() == [None, None]
    spec = tf.RaggedTensorSpec([None, None, 3], tf.float32, ragged_rank=1)
    raw = build_raw_serving_input_receiver_fn({"r": spec})().features["r"]
    assert raw.shape.as_list() == [None, None, 3]
    value = tf.compat.v1.ragged.constant_value([[[1.0, 2.0, 3.0]], []], ragged_rank=1)
    with v1.Session() as session:
        assert session.run(tf.reduce_sum(raw), {raw: value}) == 6.0
