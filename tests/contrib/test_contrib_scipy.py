"""tf.contrib.opt.ScipyOptimizerInterface: known minima, with bounds and constraints."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from estimator_bridge_contrib import opt

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.fixture(params=[True, False], ids=["resource", "reference"])
def variables(request):
    """x of [2] and y, at (4, -3) and 2."""
    with tf.Graph().as_default():
        x = v1.get_variable("x", initializer=[4.0, -3.0], use_resource=request.param)
        y = v1.get_variable("y", initializer=2.0, use_resource=request.param)
        yield x, y


def solved(optimizer, *fetches, **minimize):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        optimizer.minimize(session, **minimize)
        return [np.asarray(value) for value in session.run(list(fetches))]


def test_the_minimum_of_a_bowl(variables):
    x, y = variables
    center = v1.placeholder(tf.float32, [2])
    loss = tf.reduce_sum(tf.square(x - center)) + tf.square(y + 1.0)
    steps, losses = [], []
    optimizer = opt.ScipyOptimizerInterface(loss, options={"maxiter": 50})
    got = solved(
        optimizer,
        x,
        y,
        feed_dict={center: [1.0, 2.0]},
        fetches=[loss],
        loss_callback=losses.append,
        step_callback=lambda xk: steps.append(len(xk)),
    )
    np.testing.assert_allclose(np.hstack(got), [1.0, 2.0, -1.0], atol=1e-3)
    assert losses[0] == 9 + 25 + 9 and losses[-1] < 1e-5 and set(steps) == {3}


def test_bounds(variables):
    x, y = variables
    loss = tf.reduce_sum(x) + y
    bounds = {x.op.name: ([-1.0, 0.5], np.inf), y.ref(): (-5.0, -4.0)}
    optimizer = opt.ScipyOptimizerInterface(loss, var_to_bounds=bounds)
    np.testing.assert_allclose(np.hstack(solved(optimizer, x, y)), [-1.0, 0.5, -5.0], atol=1e-5)


def test_constraints(variables):
    x, y = variables
    loss = tf.reduce_sum(tf.square(x))
    optimizer = opt.ScipyOptimizerInterface(
        loss,
        var_list=[x],
        equalities=[x[0] + x[1] - 3.0],
        inequalities=[x[0] - 2.0],
        method="SLSQP",
    )
    got = solved(optimizer, x, y)
    np.testing.assert_allclose(got[0], [2.0, 1.0], atol=1e-4)
    assert got[1] == 2.0  # not in var_list


def test_what_is_refused(variables, monkeypatch):
    x, _ = variables
    loss = tf.reduce_sum(tf.square(x))
    with pytest.raises(ValueError, match=r"'jac' is set automatically"):
        solved(opt.ScipyOptimizerInterface(loss, jac=False))
    with pytest.raises(ValueError, match=r"'bounds' .* Use var_to_bounds"):
        solved(opt.ScipyOptimizerInterface(loss, bounds=[]))
    with pytest.raises(NotImplementedError, match="implement the _minimize"):
        solved(opt.ExternalOptimizerInterface(loss))
    with pytest.raises(ValueError, match="minimize needs a session"):
        opt.ScipyOptimizerInterface(loss).minimize()
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        solved(opt.ScipyOptimizerInterface(loss))
