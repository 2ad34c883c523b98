"""A program's device placement does not bind the run."""

import numpy as np
import tensorflow as tf
from engine import Replicas, lifted_session, v1

from estimator_bridge.graph import trace_graph


def build():
    with tf.device("/device:TPU:0"):
        w = v1.get_variable("w", initializer=[1.0, 2.0])
        x = v1.placeholder(tf.float32, [2])
        y = w * x
    with tf.device("/job:worker/task:3/device:GPU:1"), v1.colocate_with(y):
        z = tf.cond(y[0] > 0.0, lambda: y + 1.0, lambda: y)
    with v1.device(v1.train.replica_device_setter(2)):
        u = v1.get_variable("u", initializer=0.5)
    with v1.colocate_with(u, ignore_existing=True):
        total = z + u

    def body(i, s):
        with tf.device("/device:TPU:1"):
            return i + 1, s + w

    with tf.device("/device:TPU:0"):
        looped = tf.while_loop(lambda i, _: i < 2, body, [0, total])[1]
    return x, looped


def test_devices_and_colocations_are_dropped():
    with trace_graph() as graph:
        x, looped = build()
    np.testing.assert_allclose(
        lifted_session(graph).run(looped, {x: [1.0, 1.0]}), [1 + 1 + 0.5 + 2, 2 + 1 + 0.5 + 4]
    )


def test_on_replicas_each_works_on_its_own_core():
    with trace_graph() as graph:
        x, looped = build()
    replicas = Replicas(graph, 2, [looped], [], [x])
    ((one, two),) = replicas([1.0, 1.0, -1.0, 0.0])
    np.testing.assert_allclose(one, [4.5, 7.5])
    np.testing.assert_allclose(two, [-1 + 0.5 + 2, 0 + 0.5 + 4])
