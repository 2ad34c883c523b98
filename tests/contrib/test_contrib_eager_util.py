"""The small namespaces of tf.contrib, whose names are elsewhere today."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from estimator_bridge_contrib import batching, checkpoint, eager, hooks, stateless, util

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def test_gradients_of_what_was_used():
    w, b = eager.Variable(3.0), eager.Variable(1.0)
    value, pairs = eager.implicit_value_and_gradients(lambda x: w * x + b)(2.0)
    assert float(value) == 7.0
    assert {id(variable): float(g) for g, variable in pairs} == {id(w): 2.0, id(b): 1.0}
    assert [float(g) for g, _ in eager.implicit_gradients(lambda: w * w)()] == [6.0]


def test_gradients_by_arguments():
    f = eager.value_and_gradients_function(lambda x, y: x * x * y)
    value, gradients = f(3.0, 2.0)
    assert float(value) == 18.0 and [float(g) for g in gradients] == [12.0, 9.0]
    assert [
        float(g) for g in eager.gradients_function(lambda x, y: x * y, params=[1])(3.0, 2.0)
    ] == [3]


def test_execution():
    assert eager.executing_eagerly() and eager.in_eager_mode()
    with tf.Graph().as_default():
        assert not eager.executing_eagerly()
    assert int(eager.defun(lambda x: x + 1)(1)) == 2
    assert [int(x) for x in eager.Iterator(tf.data.Dataset.range(3))] == [0, 1, 2]
    assert any("CPU" in name for name in eager.list_devices())
    assert eager.num_gpus() == len(tf.config.list_physical_devices("GPU"))


def test_constants_and_protos():
    with tf.Graph().as_default() as graph:
        tensor = tf.constant([1, 2]) + 0
        assert util.constant_value(tf.constant(3)) == 3
        assert util.constant_value(v1.placeholder(tf.int32)) is None
        assert tensor.graph is graph
    proto = util.make_tensor_proto(np.float32([1, 2]))
    np.testing.assert_array_equal(util.make_ndarray(proto), [1, 2])


def test_operations_of_a_graph_and_its_functions():
    square = tf.function(tf.square).get_concrete_function(tf.TensorSpec([]))
    with tf.Graph().as_default() as graph:
        square(tf.constant(2.0))
    ops = util.ops_used_by_graph_def(graph.as_graph_def())
    assert {"Const", "Square"} <= ops
    assert not any(name.startswith("__inference") for name in ops)


def test_random_numbers_follow_from_the_seed():
    for draw in (stateless.stateless_random_normal, stateless.stateless_random_uniform):
        first, again, other = draw([4], [1, 2]), draw([4], [1, 2]), draw([4], [1, 3])
        np.testing.assert_array_equal(first, again)
        assert np.any(np.not_equal(first, other))
    np.testing.assert_array_equal(
        stateless.stateless_multinomial(tf.math.log([[0.0, 1.0]]), 3, [1, 2]), [[1, 1, 1]]
    )


def test_calls_make_up_a_batch():
    with tf.Graph().as_default(), v1.Session() as session:
        double = batching.batch_function(1, 10, 1000)(lambda x: x * 2)
        assert session.run(double(tf.constant([[3.0]]))[0]).tolist() == [6.0]


def test_names_that_moved():
    assert hooks.ProfilerHook is v1.train.ProfilerHook
    assert checkpoint.CheckpointManager is tf.train.CheckpointManager


@pytest.mark.parametrize(
    ("module", "name"),
    [(eager, "enable_remote_eager_execution"), (util, "loader")],
)
def test_what_is_missing_says_what_to_use(module, name):
    with pytest.raises(AttributeError, match=f"{name} (was removed|was a file). Use "):
        getattr(module, name)


def test_run_calls_main_eagerly_and_ends():
    program = """
import tensorflow as tf
from estimator_bridge_contrib import eager

tf.compat.v1.disable_eager_execution()


def main(arguments):
    print(tf.executing_eagerly(), arguments)
    return 3


eager.run(main, ["program", "given"])
print("never")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout.split("\n")[0]) == (3, "True ['program', 'given']")
    assert "never" not in done.stdout
