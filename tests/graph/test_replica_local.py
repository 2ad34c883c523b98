"""Combines the copies of a variable into one value, and distributes a value to them."""

import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as some

from estimator_bridge.graph.replica_local import ReplicaLocal, deal_out, whole_of
from estimator_bridge.tensorflow_private.names import eager_mode

COPIES, PROCESSES = some.integers(1, 3), some.integers(1, 3)
FLOATS = some.floats(-1e3, 1e3, width=32)


def round_trip(value, dtype, copies, processes, is_mean):
    """The whole that comes back, and the copies of all processes."""
    kind, replicas = ReplicaLocal(is_mean, initializer="init"), copies * processes
    with eager_mode():
        variables = []
        for process in range(processes):
            local = [tf.Variable(tf.zeros([], dtype)) for _ in range(copies)]
            deal_out(tf.constant(value, dtype), local, kind, replicas, has_first=process == 0)
            variables += local
        total = tf.add_n([variable.read_value() for variable in variables])
        whole = whole_of(total, replicas, kind)
        return whole.numpy(), [variable.numpy() for variable in variables]


@settings(deadline=None, max_examples=30)
@given(
    value=some.integers(-1000, 1000), copies=COPIES, processes=PROCESSES, is_mean=some.booleans()
)
def test_whole_numbers_come_back_whole(value, copies, processes, is_mean):
    """TensorFlow's own division loses what does not divide evenly."""
    assert round_trip(value, tf.int64, copies, processes, is_mean)[0] == value


@settings(deadline=None, max_examples=30)
@given(value=FLOATS, copies=COPIES, processes=PROCESSES, is_mean=some.booleans())
def test_numbers_come_back(value, copies, processes, is_mean):
    whole, parts = round_trip(value, tf.float32, copies, processes, is_mean)
    part = value if is_mean else value / (copies * processes)
    np.testing.assert_allclose(whole, value, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(parts, [part] * (copies * processes), rtol=1e-6, atol=1e-30)
