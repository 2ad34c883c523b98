"""tf.contrib.opt against the formulas of the papers, in NumPy, of dense gradients and of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import opt

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
START = np.float32([[1.0, -2.0], [3.0, 0.5], [0.0, 4.0]])
GRADIENTS = np.random.RandomState(0).randn(4, 3, 2).astype(np.float32)
ROWS = [[0], [2, 0], [2], [2]]  # that each step's gradient has; row 1 never has one


def lars(w, g, state, t, rows):
    if rows is not None:  # rows of tables are trained by plain momentum
        state["m"][rows] = 0.9 * state.setdefault("m", np.zeros_like(w))[rows] + g[rows]
        w[rows] -= 0.1 * state["m"][rows]
        return
    norm = np.linalg.norm
    rate = 0.1 * 0.02 * norm(w) / (norm(g) + 0.01 * norm(w))
    state["m"] = 0.9 * state.get("m", 0) + rate * (g + 0.01 * w)
    w -= state["m"]


def moments(g, state, beta2=0.999):
    for name in "mv":
        state.setdefault(name, np.zeros_like(g))
    return 0.9 * state["m"] + 0.1 * g, beta2 * state["v"] + (1 - beta2) * g**2


def adam(w, g, state, t, rows, lazy=False, nesterov=False, epsilon=1e-8):
    m, v = moments(g, state)
    rate = 0.1 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    step = rate * (0.9 * m + 0.1 * g if nesterov else m) / (np.sqrt(v) + epsilon)
    moved = slice(None) if rows is None else rows
    w[moved if lazy or nesterov else slice(None)] -= step[
        moved if lazy or nesterov else slice(None)
    ]
    updated = moved if lazy else slice(None)
    state["m"][updated], state["v"][updated] = m[updated], v[updated]


def adamax(w, g, state, t, rows):
    moved = slice(None) if rows is None else rows
    m, _ = moments(g, state)
    v = np.maximum(0.999 * state["v"], np.abs(g))
    w[moved] -= (0.1 / (1 - 0.9**t) * m / (v + 1e-8))[moved]
    state["m"][moved], state["v"][moved] = m[moved], v[moved]


def signs(scale):
    def step(w, g, state, t, rows):
        m, _ = moments(g, state)
        w -= 0.1 * scale(np.sign(g) * np.sign(m)) * g
        state["m"] = m

    return step


def adagrad(w, g, state, t, rows):
    state["a"] = state.get("a", np.full_like(w, 0.1)) + g**2
    w -= 0.1 * g / np.sqrt(state["a"])


def decayed(step, share=0.01):
    def both(w, g, state, t, rows):
        w[slice(None) if rows is None else rows] *= 1 - share
        step(w, g, state, t, rows)

    return both


def momentum(w, g, state, t, rows):
    moved = slice(None) if rows is None else rows
    m = 0.9 * state.setdefault("m", np.zeros_like(w)) + g
    state["m"][moved] = m[moved]
    w[moved] -= 0.1 * m[moved]


def lars_first(w, g, state, t, rows):
    state.setdefault("m", np.zeros_like(w))
    lars(w, g, state, t, rows)


CASES = {
    "LARS": (
        lambda step: opt.LARSOptimizer(0.1, weight_decay=0.01, eeta=0.02),
        lars_first,
    ),
    "LazyAdam": (
        lambda step: opt.LazyAdamOptimizer(0.1),
        lambda *a: adam(*a, lazy=True),
    ),
    "AdamGS": (lambda step: opt.AdamGSOptimizer(step, 0.1), adam),
    "LazyAdamGS": (
        lambda step: opt.LazyAdamGSOptimizer(step, 0.1),
        lambda *a: adam(*a, lazy=True),
    ),
    "Nadam": (lambda step: opt.NadamOptimizer(0.1), lambda *a: adam(*a, nesterov=True)),
    "AdaMax": (lambda step: opt.AdaMaxOptimizer(0.1), adamax),
    "PowerSign": (
        lambda step: opt.PowerSignOptimizer(0.1, base=2.0),
        signs(lambda agreement: 2.0**agreement),
    ),
    "AddSign": (
        lambda step: opt.AddSignOptimizer(0.1, alpha=1.5),
        signs(lambda agreement: 1.5 + agreement),
    ),
    "RegAdagrad": (lambda step: opt.RegAdagradOptimizer(0.1), adagrad),
    "AdamW": (lambda step: opt.AdamWOptimizer(0.01, 0.1), decayed(adam)),
    "MomentumW": (lambda step: opt.MomentumWOptimizer(0.01, 0.1, 0.9), decayed(momentum)),
    "extended": (
        lambda step: opt.extend_with_decoupled_weight_decay(v1.train.AdamOptimizer)(
            weight_decay=0.01, learning_rate=0.1
        ),
        decayed(adam),
    ),
}


@pytest.mark.parametrize("is_resource", [True, False])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_steps(name, is_sparse, is_resource):
    make, formula = CASES[name]
    expected, state = START.copy(), {}
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.create_global_step()
        w = v1.get_variable("weights", initializer=START, use_resource=is_resource)
        dense, rows = v1.placeholder(tf.float32, START.shape), v1.placeholder(tf.int32, [None])
        gradient = dense
        if is_sparse:
            gradient = tf.IndexedSlices(tf.gather(dense, rows), rows, tf.constant([3, 2]))
        update = make(step).apply_gradients([(gradient, w)], global_step=step)
        session.run(v1.global_variables_initializer())
        for t, (g, r) in enumerate(zip(GRADIENTS, ROWS), start=1):
            session.run(update, {dense: g, rows: r})
            used = g if not is_sparse else np.where(np.isin(range(3), r)[:, None], g, 0)
            formula(expected, used, state, t, r if is_sparse else None)
            np.testing.assert_allclose(session.run(w), expected, rtol=2e-5, atol=1e-6)


def one_step(optimizer, variables, loss, steps=1, **minimize):
    with v1.Session() as session:
        update = optimizer.minimize(loss, **minimize)
        session.run(v1.global_variables_initializer())
        for _ in range(steps):
            session.run(update)
        return session.run(variables)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_lars_skips_names_and_zero_weights(graph):
    w = v1.get_variable("kernel", initializer=tf.zeros([2]))
    b = v1.get_variable("bias", initializer=tf.ones([2]))
    loss = tf.reduce_sum(w + b)
    got = one_step(opt.LARSOptimizer(0.5, skip_list=["bias"], weight_decay=0.1), [w, b], loss)
    np.testing.assert_allclose(got, [[-0.5, -0.5], [0.5, 0.5]])  # both at the global rate
    with pytest.raises(ValueError, match="momentum should be positive"):
        opt.LARSOptimizer(0.1, momentum=-1.0)


def test_lars_with_nesterovs_momentum(graph):
    b = v1.get_variable("bias", initializer=1.0)
    optimizer = opt.LARSOptimizer(0.5, skip_list=["bias"], use_nesterov=True)
    assert one_step(optimizer, b, 1.0 * b) == pytest.approx(1 - 0.5 * 1.9)


def test_decay_of_chosen_variables(graph):
    a, b = (v1.get_variable(name, initializer=1.0) for name in "ab")
    optimizer = opt.MomentumWOptimizer(lambda: 0.5, 0.1, 0.0)
    got = one_step(optimizer, [a, b], a + b, decay_var_list=[a])
    np.testing.assert_allclose(got, [1 - 0.5 - 0.1, 1 - 0.1], rtol=1e-6)


def test_signs_that_count_less_and_less(graph):
    step = v1.train.create_global_step()
    w = v1.get_variable("w", initializer=1.0)
    optimizer = opt.AddSignOptimizer(0.1, sign_decay_fn=lambda s: 1.0 - tf.cast(s, tf.float32))
    # The factor is 1 + decay: 2 at step 0, 1 at step 1.
    assert one_step(optimizer, w, 1.0 * w, 2, global_step=step) == pytest.approx(1 - 0.2 - 0.1)


def test_regularizing_leaves_sums_of_squares(graph):
    w = v1.get_variable("w", initializer=1.0)
    optimizer = opt.RegAdagradOptimizer(1.0, initial_accumulator_value=4.0)
    with optimizer.avoid_updating_slots():
        assert one_step(optimizer, w, 1.0 * w, 2) == pytest.approx(1 - 2 * 1 / 2)


def test_weights_are_clipped(graph):
    w = v1.get_variable("w", initializer=START)
    optimizer = opt.VariableClippingOptimizer(
        v1.train.GradientDescentOptimizer(0.0), {w.ref(): [1]}, max_norm=2.0
    )
    norms = np.linalg.norm(START, axis=1, keepdims=True)
    expected = START * np.minimum(1, 2 / norms)
    np.testing.assert_allclose(one_step(optimizer, w, tf.reduce_sum(w)), expected, rtol=1e-6)


def test_rows_are_clipped(graph):
    w = v1.get_variable("w", initializer=START)
    optimizer = opt.VariableClippingOptimizer(
        v1.train.GradientDescentOptimizer(0.0), {"w": [1]}, max_norm=2.0
    )
    got = one_step(optimizer, w, tf.reduce_sum(tf.gather(w, [2, 2])))
    np.testing.assert_allclose(got, [START[0], START[1], [0.0, 2.0]], rtol=1e-6)


def test_tasks_that_take_turns(graph):
    a, b = (v1.get_variable(name, initializer=1.0) for name in "ab")
    turn = v1.placeholder_with_default(1.0, [])
    wrapper = opt.MultitaskOptimizerWrapper(v1.train.MomentumOptimizer(0.1, 0.9))
    update = wrapper.minimize(turn * a + (1 - turn) * b)
    assert wrapper.get_slot_names() == ["momentum"]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(update)
        session.run(update, {turn: 0.0})
        np.testing.assert_allclose(session.run([a, b]), [0.9, 0.9], rtol=1e-6)
    with pytest.raises(TypeError, match=r"must be an instance of tf.train.Optimizer"):
        opt.MultitaskOptimizerWrapper("adam")


def test_clipping_by_the_joint_norm(graph):
    pairs, norm = opt.clip_gradients_by_global_norm(
        [(tf.constant([3.0]), "a"), (None, "b"), (tf.constant([4.0]), "c")], 2.5
    )
    with v1.Session() as session:
        a, c, n = session.run([pairs[0][0], pairs[2][0], norm])
    np.testing.assert_allclose([a[0], c[0], n], [1.5, 2.0, 5.0], rtol=1e-6)
    assert pairs[1] == (None, "b")


def test_a_swapping_saver_saves_averages_as_weights(graph, tmp_path):
    w = v1.get_variable("w", initializer=1.0)
    optimizer = opt.MovingAverageOptimizer(v1.train.GradientDescentOptimizer(0.5), 0.75)
    with pytest.raises(RuntimeError, match="Must call apply_gradients or minimize"):
        optimizer.swapping_saver()
    update = optimizer.minimize(1.0 * w)
    saver = optimizer.swapping_saver()
    with pytest.raises(ValueError, match="is not part of variables to save"):
        optimizer.swapping_saver([w])
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(update)
        path = saver.save(session, str(tmp_path / "swapped"))
        session.run(w.assign(7.0))
        saver.restore(session, path)
        assert session.run(w) == 0.5
    average = 0.75 * 1.0 + 0.25 * 0.5
    assert dict(tf.train.list_variables(path)).keys() == {"w", "w/ExponentialMovingAverage"}
    assert tf.train.load_variable(path, "w") == average
    assert tf.train.load_variable(path, "w/ExponentialMovingAverage") == 0.5


def test_a_swapping_saver_saves_the_averages_of_parts(graph, tmp_path):
    parts = v1.get_variable(
        "w", initializer=tf.constant([1.0, 2.0]), partitioner=v1.fixed_size_partitioner(2)
    )
    optimizer = opt.MovingAverageOptimizer(v1.train.GradientDescentOptimizer(0.5), 0.75)
    update = optimizer.minimize(tf.reduce_sum(parts))
    saver = optimizer.swapping_saver()
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(update)
        path = saver.save(session, str(tmp_path / "swapped"))
    averages = 0.75 * np.array([1.0, 2.0]) + 0.25 * np.array([0.5, 1.5])
    np.testing.assert_allclose(tf.train.load_variable(path, "w"), averages)
    np.testing.assert_allclose(
        tf.train.load_variable(path, "w/ExponentialMovingAverage"), [0.5, 1.5]
    )


X = np.random.RandomState(1).randn(8, 3).astype(np.float32)


def train(make, folder, cores, steps=4):
    def model_fn(features, labels, mode, params):
        w = v1.get_variable("w", [3, 1], initializer=v1.ones_initializer())
        bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(features, w) * 2.0 + bias - labels))
        optimizer = make()
        if params["use_tpu"]:
            optimizer = eb.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn(params):
        labels = X.sum(axis=1, keepdims=True)
        return tf.data.Dataset.from_tensors((X, labels)).repeat()

    config = eb.tpu.RunConfig(
        master=f"emulated:{cores or 1}", model_dir=str(folder),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )  # fmt: skip
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=8, use_tpu=bool(cores)
    )
    estimator.train(input_fn, steps=steps)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


@pytest.mark.parametrize(
    "make",
    [
        lambda: opt.LARSOptimizer(0.1),
        lambda: opt.AdamWOptimizer(0.01, 0.1),
        lambda: opt.LazyAdamOptimizer(0.1),
        lambda: opt.AdaMaxOptimizer(0.1),
        lambda: opt.MovingAverageOptimizer(opt.NadamOptimizer(0.1), 0.9),
        lambda: opt.MultitaskOptimizerWrapper(v1.train.MomentumOptimizer(0.1, 0.9))._opt,
    ],
    ids=["LARS", "AdamW", "LazyAdam", "AdaMax", "averages of Nadam", "multitask"],
)
def test_training_on_two_cores_is_training_on_one_machine(make, tmp_path):
    alone, two = (train(make, tmp_path / str(cores), cores) for cores in (0, 2))
    assert set(alone) == set(two) and not np.allclose(alone["w"], 1.0)
    for name, value in alone.items():
        np.testing.assert_allclose(two[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", ["AGNOptimizer", "ElasticAverageOptimizer"])
def test_what_is_missing_says_what_to_use(name):
    with pytest.raises(AttributeError, match=f"tf.contrib.opt.{name} .*is not supported.* Use "):
        getattr(opt, name)
