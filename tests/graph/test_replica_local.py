"""One value of several copies, and back."""

import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as some

from estimator_bridge.graph.replica_local import ReplicaLocal, combined, deal_out
from estimator_bridge.tensorflow_private import eager_mode

COPIES = some.integers(1, 5)
FLOATS = some.floats(-1e3, 1e3, width=32)


def round_trip(value, dtype, copies, is_mean, is_initial=False):
    kind = ReplicaLocal(is_mean, initializer="init")
    with eager_mode():
        variables = [tf.Variable(tf.zeros([], dtype)) for _ in range(copies)]
        deal_out(tf.constant(value, dtype), variables, kind, is_initial)
        return combined(variables, kind).numpy(), [variable.numpy() for variable in variables]


@settings(deadline=None, max_examples=30)
@given(value=some.integers(-1000, 1000), copies=COPIES, is_mean=some.booleans())
def test_whole_numbers_come_back_whole(value, copies, is_mean):
    """TensorFlow's own division loses what does not divide evenly."""
    assert round_trip(value, tf.int64, copies, is_mean)[0] == value


@settings(deadline=None, max_examples=30)
@given(value=FLOATS, copies=COPIES, is_mean=some.booleans())
def test_numbers_come_back(value, copies, is_mean):
    whole, parts = round_trip(value, tf.float32, copies, is_mean)
    part = value if is_mean else value / copies
    np.testing.assert_allclose(whole, value, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(parts, [part] * copies, rtol=1e-6, atol=1e-30)


@settings(deadline=None, max_examples=10)
@given(value=FLOATS, copies=COPIES)
def test_every_copy_begins_with_the_initial_value(value, copies):
    _, parts = round_trip(value, tf.float32, copies, is_mean=False, is_initial=True)
    np.testing.assert_array_equal(parts, [np.float32(value)] * copies)
