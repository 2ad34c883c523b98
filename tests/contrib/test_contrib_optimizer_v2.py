"""tf.contrib.optimizer_v2.OptimizerV2 in eager code and on replicas, and its checkpoints."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib.optimizer_v2 import OptimizerV2

v1 = tf.compat.v1


class Momentum(OptimizerV2):
    def __init__(self, rate):
        super().__init__(False, "Momentum")
        self._set_hyper("rate", rate)

    def _create_vars(self, var_list, state):
        for var in var_list:
            state.zeros_slot(var, "momentum")
        state.create_non_slot(1.0, "steps")

    def _resource_apply_dense(self, grad, var, state):
        slot = state.get_slot(var, "momentum")
        slot.assign(slot * 0.5 + grad)
        return var.assign_sub(state.get_hyper("rate", grad.dtype) * slot)

    def _finish(self, state):
        return state.get_non_slot("steps").assign_add(1.0)


def test_a_step_in_eager_code_reads_a_function_again():
    rates = iter([1.0, 0.1])
    optimizer, v = Momentum(lambda: next(rates)), tf.Variable([3.0])
    for _ in range(2):
        optimizer.minimize(lambda: v * 2.0, var_list=[v])
    np.testing.assert_allclose(v, [3.0 - 2.0 - 0.1 * 3.0])
    assert [each.numpy().item() for each in optimizer.variables()] == [3.0, 3.0]
    assert optimizer.get_slot_names() == ["momentum"]


def test_slots_are_in_checkpoints_and_come_back_when_they_are_made(tmp_path):
    v, optimizer = tf.Variable([3.0]), Momentum(0.1)
    optimizer.apply_gradients([(tf.constant([2.0]), v)])
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).write(str(tmp_path / "c"))
    w, again = tf.Variable([0.0]), Momentum(0.1)
    status = tf.train.Checkpoint(v=w, optimizer=again).read(path)
    for variable, each in ((v, optimizer), (w, again)):
        each.apply_gradients([(tf.constant([1.0]), variable)])
    status.assert_consumed()
    np.testing.assert_array_equal(v, w)
    np.testing.assert_array_equal(again.get_slot(w, "momentum"), [2.0])


def test_gradients_of_replicas_are_added():
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        v, optimizer = tf.Variable([3.0]), Momentum(1.0)
        strategy.run(lambda: optimizer.apply_gradients([(tf.constant([2.0]), v)]))
    np.testing.assert_array_equal(v, [1.0])


def test_a_method_that_is_not_defined_is_named():
    with tf.Graph().as_default():
        v = v1.get_variable("v", [1], use_resource=False)
        with pytest.raises(NotImplementedError, match=r"Momentum must define _apply_dense\(grad"):
            Momentum(0.1).minimize(v)
