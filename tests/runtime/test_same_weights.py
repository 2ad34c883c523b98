"""The same global batches give the same weights, however many cores they are split over."""

import functools

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, ref, v1

from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import Step, StepLoop, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

STEPS, BATCH = 50, 16


class HandWritten(v1.train.Optimizer):
    """As BERT's: apply_gradients makes the slots and the assignments itself."""

    def __init__(self, rate):
        super().__init__(False, "HandWritten")
        self._rate = rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for gradient, variable in grads_and_vars:
            if gradient is None:
                continue
            shape = variable.shape.as_list()
            m, v = (
                v1.get_variable(
                    f"{variable.op.name}/{slot}",
                    shape,
                    trainable=False,
                    initializer=v1.zeros_initializer(),
                )
                for slot in ("hand_m", "hand_v")
            )
            next_m = 0.9 * m + 0.1 * gradient
            next_v = 0.99 * v + 0.01 * tf.square(gradient)
            update = next_m / (tf.sqrt(next_v) + 1e-3) + 0.01 * variable
            assignments += [
                variable.assign(variable - self._rate * update),
                m.assign(next_m),
                v.assign(next_v),
            ]
        with tf.control_dependencies([tf.group(*assignments)]):
            return global_step.assign_add(1, name=name).op


OPTIMIZERS = {
    "GradientDescent": lambda: v1.train.GradientDescentOptimizer(0.1),
    "Momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9),
    "Nesterov": lambda: v1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "Adam": lambda: v1.train.AdamOptimizer(0.01),
    "RMSProp": lambda: v1.train.RMSPropOptimizer(0.005, momentum=0.5, epsilon=1e-3),
    "CenteredRMSProp": lambda: v1.train.RMSPropOptimizer(0.005, epsilon=1e-2, centered=True),
    "Adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "Adadelta": lambda: v1.train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    "AdagradDA": lambda: v1.train.AdagradDAOptimizer(0.1, v1.train.get_global_step()),
    "Ftrl": lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=1e-3),
    "ProximalAdagrad": lambda: v1.train.ProximalAdagradOptimizer(0.1),
    "ProximalGradientDescent": lambda: v1.train.ProximalGradientDescentOptimizer(0.1),
    "HandWritten": lambda: HandWritten(0.01),
}


def data():
    random = np.random.RandomState(0)
    x = random.randn(BATCH * 10, 6).astype(np.float32)
    y = np.argmax(x @ random.randn(6, 3), axis=1).astype(np.int64)
    with eager_mode():
        return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(BATCH, True)


def model(x, y, step):
    hidden = v1.layers.dense(x, 8, activation=tf.nn.tanh)
    table = v1.get_variable("table", [3, 8])
    noise = tf.nn.embedding_lookup(table, y) * tf.minimum(tf.cast(step.read_value(), "float32"), 1)
    return v1.losses.sparse_softmax_cross_entropy(y, v1.layers.dense(hidden + noise, 3))


@functools.cache
def trained(name, cores):
    """All variables after the steps, by name."""
    with trace_graph(seed=1, shards=cores) as graph:
        step = v1.train.get_or_create_global_step()
        x = v1.placeholder(tf.float32, [BATCH // cores, 6])
        y = v1.placeholder(tf.int64, [BATCH // cores])
        loss = model(x, y, step)
        optimizer = v1.tpu.CrossShardOptimizer(OPTIMIZERS[name]())
        train = optimizer.minimize(loss, step)
        variables = {v.op.name: v for v in v1.global_variables()}
    strategy = tpu_strategy(master=f"emulated:{cores}")
    session = lifted_session(graph, strategy)
    loop = StepLoop(session, strategy, Step([ref(x), ref(y)], [ref(train)], ref(loss)))
    with eager_mode():
        iterator = iter(data())
    first = loop(iterator, 1).loss
    last = loop(iterator, STEPS - 1, rng_step=1).loss
    assert last < first
    with eager_mode():
        for variable in variables:  # every core computed the same
            one, *others = (c.numpy() for c in session.resources.copies(variable))
            for other in others:
                np.testing.assert_allclose(other, one, atol=1e-6)
    return session.run(variables)


@pytest.mark.parametrize("cores", [2, 4, 8])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_weights_after_fifty_steps(name, cores):
    alone, together = trained(name, 1), trained(name, cores)
    assert together["global_step"] == STEPS
    assert alone.keys() == together.keys()
    for variable, value in alone.items():
        np.testing.assert_allclose(together[variable], value, atol=1e-5, err_msg=variable)


def test_one_core_trains_as_a_v1_session_does():
    with trace_graph(seed=1):
        step = v1.train.get_or_create_global_step()
        x, y = v1.placeholder(tf.float32, [BATCH, 6]), v1.placeholder(tf.int64, [BATCH])
        loss = model(x, y, step)
        with tf.control_dependencies([loss]):  # or it is a race between step's read and increment
            train = v1.train.AdamOptimizer(0.01).minimize(loss, step)
        with eager_mode():
            batches = list(data().take(STEPS).as_numpy_iterator())
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for features, labels in batches:
                session.run(train, {x: features, y: labels})
            expected = session.run({v.op.name: v for v in v1.trainable_variables()})
    got = trained("Adam", 1)
    for variable, value in expected.items():
        np.testing.assert_allclose(got[variable], value, atol=1e-5, err_msg=variable)
