"""Reads a graph's dataset as it is, and as it is rewritten."""

import contextlib

import numpy as np
import tensorflow as tf

from estimator_bridge.data.graph_iterators import lifted_dataset
from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.tensorflow_private.names import eager_mode

MOST = 60  # batches read of an endless dataset


def read(dataset):
    with eager_mode():
        return list(tf.nest.map_structure(lambda t: t.numpy(), list(dataset.take(MOST))))


@contextlib.contextmanager
def lifted(make, keeps_positions):
    """Gives the dataset that a graph makes: as it is if positions are kept, otherwise rewritten."""
    with trace_graph(seed=5) as graph:
        dataset = make()
        variant = tf.data.experimental.to_variant(dataset)
    session = LiftedSession(graph, tf.distribute.get_strategy())
    session.resources.inputs.keeps_positions = keeps_positions
    with eager_mode():
        yield lifted_dataset(session, variant.name, dataset.element_spec)
    session.close()


def both(make, keeps_positions=False):
    """Returns the batches of a dataset that a graph makes: as it is, and rewritten."""
    results = []
    for keeps in (True, keeps_positions):
        with lifted(make, keeps) as dataset:
            results.append(read(dataset))
    return results


def same(one, other):
    """Checks that batches are equal, but for the sign and the bits of a NaN."""
    assert len(one) == len(other)
    for ours, theirs in zip(one, other):
        tf.nest.assert_same_structure(ours, theirs)
        for a, b in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs)):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(_comparable(a), _comparable(b))


def _comparable(array):
    """Returns an array, or the bits of its numbers, which tell zeros of two signs apart."""
    if array.dtype.kind not in "fV":  # bfloat16 has no kind of its own
        return array
    numbers = np.float64(array)
    return np.where(np.isnan(numbers), -1, numbers.view(np.int64))
