"""AutoGraph leaves the code of tf.contrib's cells as it is, and converts a program's own layers."""

import sys

import tensorflow as tf

from estimator_bridge_contrib import rnn

v1 = tf.compat.v1


class Doubled(v1.nn.rnn_cell.RNNCell):
    """A program's cell with a Python branch on a tensor, which only AutoGraph can compile."""

    state_size = output_size = 3

    def call(self, inputs, state):
        if tf.reduce_sum(inputs) > 0.0:
            state = state + inputs
        return 2.0 * state, state


def run(cell):
    with tf.Graph().as_default(), v1.Session() as session:
        outputs = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        session.run(v1.global_variables_initializer())
        return session.run(outputs)[0]


def test_a_cell_of_contrib_runs_its_own_source():
    seen = {}

    def activation(x):
        caller = sys._getframe(1)
        seen[caller.f_code.co_name] = caller.f_code.co_filename
        return tf.tanh(x)

    run(rnn.UGRNNCell(3, activation=activation))
    assert seen["call"].endswith("cells.py")


def test_the_cell_that_a_cell_of_contrib_wraps_is_converted():
    wrapped = rnn.InputProjectionWrapper(Doubled(), 3)
    assert run(wrapped).shape == (2, 3)
