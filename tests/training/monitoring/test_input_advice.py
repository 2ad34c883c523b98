"""The advice for a slow input names the line that maps single examples."""

import pytest
import tensorflow as tf

from estimator_bridge.training.monitoring.input_advice import advice_on_input

LAST = "Let the input run ahead: end the dataset with .prefetch("


def root(x):
    return tf.sqrt(tf.cast(x, tf.float32))  # has no form for batches with the same bits


def advice_on(make):
    with tf.Graph().as_default() as graph:
        tf.compat.v1.data.make_one_shot_iterator(make(tf.data.Dataset.range(8))).get_next()
        return advice_on_input(graph)


@pytest.mark.parametrize(
    "make",
    [
        lambda data: data.map(root).batch(2),
        lambda data: data.map(root, num_parallel_calls=2).shuffle(4).repeat().batch(2),
        lambda data: data.map(root).cache().take(4).padded_batch(2),
        lambda data: data.apply(tf.data.experimental.map_and_batch(root, 2)),
    ],
    ids=["map", "parallel", "padded", "fused"],
)
def test_a_map_of_single_examples_is_named(make):
    advice = advice_on(make)
    start = "A function is called for each single example at "
    assert advice.startswith(start)
    assert "test_input_advice.py:" in advice.partition(". If it can")[0]
    assert "If it can take a batch, write .batch() before it. " + LAST in advice


@pytest.mark.parametrize("make", [lambda data: data.batch(2).map(root), lambda data: data.batch(2)])
def test_a_map_of_batches_is_not(make):
    assert advice_on(make).startswith(LAST)
