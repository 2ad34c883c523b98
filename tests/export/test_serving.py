import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.export import (
    ServingInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)


@pytest.fixture(autouse=True)
def _in_a_graph():
    with tf.Graph().as_default():
        yield


def _tensor(name="t"):
    return tf.compat.v1.placeholder(tf.float32, [None, 2], name=name)


def test_single_tensors_get_names():
    feature, fed, other = _tensor(), _tensor(), _tensor()
    receiver = ServingInputReceiver(feature, fed, {"other": other})
    assert receiver.features == {"feature": feature}
    assert receiver.receiver_tensors == {"input": fed}
    assert receiver.receiver_tensors_alternatives == {"other": {"input": other}}
    assert ServingInputReceiver(feature, fed).receiver_tensors_alternatives is None


def test_named_and_composite_tensors_pass():
    sparse = tf.compat.v1.sparse_placeholder(tf.int64)
    ragged = tf.RaggedTensor.from_row_lengths(_tensor(), [1])
    features = {"sparse": sparse, "ragged": ragged, 3: _tensor()}
    assert ServingInputReceiver(features, {"a": _tensor()}).features == features


def test_a_single_feature_can_stay_a_tensor():
    feature = _tensor()
    receiver = TensorServingInputReceiver(feature, {"a": _tensor()}, {"b": _tensor()})
    assert receiver.features is feature
    assert list(receiver.receiver_tensors) == ["a"]
    assert list(receiver.receiver_tensors_alternatives["b"]) == ["input"]


@pytest.mark.parametrize("kind", [ServingInputReceiver, TensorServingInputReceiver])
def test_what_is_missing_is_named(kind):
    with pytest.raises(ValueError, match="features must be defined"):
        kind(None, _tensor())
    with pytest.raises(ValueError, match="receiver_tensors must be defined"):
        kind(_tensor(), None)


@pytest.mark.parametrize("kind", [ServingInputReceiver, TensorServingInputReceiver])
def test_what_is_wrong_is_named(kind):
    with pytest.raises(ValueError, match=r"feature.* must be a Tensor, .*Got 3"):
        kind(3, _tensor())
    with pytest.raises(ValueError, match=r"receiver_tensor a must be a Tensor, .*Got 'x'"):
        kind(_tensor(), {"a": "x"})
    with pytest.raises(ValueError, match="receiver_tensor keys must be strings: 3"):
        kind(_tensor(), {3: _tensor()})
    with pytest.raises(ValueError, match="receiver_tensors_alternatives must be a dict"):
        kind(_tensor(), _tensor(), _tensor())
    with pytest.raises(ValueError, match="receiver_tensors_alternative keys must be strings"):
        kind(_tensor(), _tensor(), {"b": {3: _tensor()}})


def test_feature_keys_are_names_or_numbers():
    with pytest.raises(ValueError, match="feature keys must be strings or ints"):
        ServingInputReceiver({("a", "b"): _tensor()}, _tensor())


@pytest.mark.parametrize("batch_size", [None, 2])
def test_parsing_receiver_parses_what_it_is_fed(batch_size):
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    receiver = build_parsing_serving_input_receiver_fn(spec, batch_size)()
    assert list(receiver.receiver_tensors) == ["examples"]
    fed = receiver.receiver_tensors["examples"]
    assert (fed.name, fed.dtype, fed.shape.as_list()) == (
        "input_example_tensor:0",
        tf.string,
        [batch_size],
    )
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    with tf.compat.v1.Session() as session:
        parsed = session.run(receiver.features["x"], {fed: [example.SerializeToString()] * 2})
    np.testing.assert_array_equal(parsed, [[1.0, 2.0], [1.0, 2.0]])


def test_raw_receiver_feeds_the_features_themselves():
    with tf.Graph().as_default():
        of_a_graph = _tensor("pixels")
    features = {
        "graph": of_a_graph,
        "array": np.zeros([7, 3], np.int32),
        "spec": tf.TensorSpec([None, 4], tf.string),
        "scalar": np.float32(1),
    }
    make = build_raw_serving_input_receiver_fn(features)
    for _ in range(2):  # once for each graph that is exported
        with tf.Graph().as_default() as graph:
            receiver = make()
            assert receiver.features == receiver.receiver_tensors
            described = {k: (v.dtype, v.shape.as_list()) for k, v in receiver.features.items()}
            assert described == {
                "graph": (tf.float32, [None, 2]),
                "array": (tf.int32, [None, 3]),
                "spec": (tf.string, [None, 4]),
                "scalar": (tf.float32, [None]),
            }
            assert receiver.features["graph"].name == "pixels:0"
            assert receiver.features["array"].graph is graph


def test_raw_receiver_of_a_fixed_batch_and_of_a_sparse_feature():
    sparse = tf.SparseTensor(np.zeros([1, 2], np.int64), ["a"], [3, 5])
    receiver = build_raw_serving_input_receiver_fn({"s": sparse, "x": _tensor()}, 4)()
    assert isinstance(receiver.features["s"], tf.SparseTensor)
    assert receiver.features["s"].dtype == tf.string
    assert receiver.features["x"].shape.as_list() == [4, 2]


def test_raw_receiver_takes_named_features():
    with pytest.raises(TypeError, match="features must be a dict of string to Tensor"):
        build_raw_serving_input_receiver_fn(_tensor())
    with pytest.raises(TypeError, match="feature x must have a dtype and a shape, got 3"):
        build_raw_serving_input_receiver_fn({"x": 3})
