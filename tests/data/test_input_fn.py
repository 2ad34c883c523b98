import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.data import call_input_fn, input_fn
from estimator_bridge.data.reader_parts import reader_part
from estimator_bridge.model import ModeKeys
from estimator_bridge.tpu.context import TPUContext


def counted(count):
    return tf.data.Dataset.range(count).map(lambda i: ({"x": tf.fill([3], i)}, 2 * i))


def numbers():
    return counted(10)


def batches(dataset):
    return [labels.tolist() for _, labels in dataset.as_numpy_iterator()]


@settings(deadline=None, max_examples=20)
@given(count=st.integers(0, 12), size=st.integers(1, 5), training=st.booleans())
def test_training_drops_the_rest_and_evaluation_keeps_every_example(count, size, training):
    read = batches(input_fn(lambda: counted(count), training)({"batch_size": size}))
    expected = count - count % size if training else count
    assert [label for batch in read for label in batch] == [2 * i for i in range(expected)]
    assert all(len(batch) == size for batch in (read if training else read[:-1]))


def test_training_batches_have_static_shapes():
    features, labels = input_fn(numbers, True, 4)().element_spec
    assert (features["x"].shape.as_list(), labels.shape.as_list()) == ([4, 3], [4])
    assert input_fn(numbers, False, 4)().element_spec[1].shape.as_list() == [None]


def test_the_estimators_batch_size_comes_first():
    function = input_fn(numbers, True, batch_size=2)
    assert len(batches(function())) == len(batches(function({"rate": 0.1}))) == 5
    assert len(batches(function(params={"batch_size": np.int64(5)}))) == 2


@pytest.mark.parametrize("training", [True, False])
def test_make_dataset_gets_what_it_names(training):
    seen = []

    def make(mode, params):
        seen.append((mode, params["count"]))
        return counted(params["count"])

    function = input_fn(make, training, 2)
    assert len(batches(function({"count": 4}))) == 2
    function({"count": 4}, ModeKeys.PREDICT)
    usual = ModeKeys.TRAIN if training else ModeKeys.EVAL
    assert seen == [(usual, 4), (ModeKeys.PREDICT, 4)]


def test_each_worker_and_host_reads_its_part():
    def make(params, input_context):
        index, count = reader_part(params, input_context)
        return counted(10).shard(count, index)

    function = input_fn(make, False, 5)
    workers = [tf.distribute.InputContext(3, i, 3) for i in range(3)]
    parts = [batches(function(input_context=one)) for one in workers]
    assert parts == [[[0, 6, 12, 18]], [[2, 8, 14]], [[4, 10, 16]]]
    hosts = [TPUContext(6, 3, i, i, 3) for i in range(3)]
    assert [batches(function({"context": one})) for one in hosts] == parts
    # Replicas of two hosts, each with an input of its own; the third of four.
    assert batches(function({"context": TPUContext(4, 2, 1, 2, 4)})) == [[4, 12]]
    assert len(batches(function())) == 2


def test_either_estimator_can_call_it():
    with tf.Graph().as_default() as graph:
        function = input_fn(numbers, True)
        offered = {"params": {"batch_size": 5}, "mode": ModeKeys.TRAIN, "config": None}
        inputs = call_input_fn(function, graph, **offered)
        assert inputs.spec[1].shape.as_list() == [5]
        assert call_input_fn(input_fn(numbers, True, 2), graph).spec[1].shape.as_list() == [2]


def test_no_batch_size_is_an_error_that_says_where_to_give_one():
    with pytest.raises(ValueError, match=r"No batch size.*batch_size=32.*params=\{"):
        input_fn(numbers, True)({"rate": 0.1})


@pytest.mark.parametrize("size", [0, -1, 2.0, "8", True])
def test_a_batch_size_is_a_positive_whole_number(size):
    with pytest.raises(ValueError, match=r"batch_size=.*positive whole number"):
        input_fn(numbers, True, size)
    with pytest.raises(ValueError, match=r"params\['batch_size'\] must be a positive whole number"):
        input_fn(numbers, True)({"batch_size": size})


def test_what_make_dataset_is_and_returns_is_checked():
    with pytest.raises(TypeError, match="make_dataset must be a function"):
        input_fn(numbers(), True)
    with pytest.raises(ValueError, match=r"nothing called 'count'.*mode, params"):
        input_fn(counted, True)
    with pytest.raises(TypeError, match=r"of single examples, got tuple\..*from_tensor_slices"):
        input_fn(lambda: (np.zeros([4, 3]), np.zeros([4])), True, 2)()
