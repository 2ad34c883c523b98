"""The rarer cells of tf.contrib.rnn: names of variables, and two steps written out in numpy."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge_contrib import rnn

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 2, 4)).astype(np.float32)  # [batch, time, size]
UNITS = 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(cell, values=(X,), **kwargs):
    """Outputs and last state of a cell, and the variables below its own scope."""

    def build(*inputs):
        inputs = inputs if len(inputs) > 1 else inputs[0]
        return v1.nn.dynamic_rnn(cell(), inputs, dtype=tf.float32)

    network = Run(build, *values, **kwargs)
    scope = next(iter(network.variables)).split("/")[1]
    return network.result, {
        name.removeprefix(f"rnn/{scope}/"): value for name, value in network.variables.items()
    }


def test_ind_rnn():
    (outputs, state), v = run(lambda: rnn.IndRNNCell(UNITS))
    h = 0
    for t in range(2):
        h = np.tanh(X[:, t] @ v["kernel_w"] + h * v["kernel_u"] + v["bias"])
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state, h, rtol=1e-4, atol=1e-6)
    assert np.abs(v["kernel_u"]).max() <= 1


def test_indy_gru():
    (outputs, _), v = run(lambda: rnn.IndyGRUCell(UNITS))
    h = np.zeros([3, UNITS])
    for t in range(2):
        gates = X[:, t] @ v["gates/kernel_w"] + np.tile(h, 2) * v["gates/kernel_u"]
        r, u = np.split(sigmoid(gates + v["gates/bias"]), 2, axis=1)
        c = X[:, t] @ v["candidate/kernel"] + r * h * v["candidate/kernel_u"]
        h = u * h + (1 - u) * np.tanh(c + v["candidate/bias"])
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-4, atol=1e-6)
    assert (v["gates/bias"] == 1).all() and (v["candidate/bias"] == 0).all()


def test_indy_lstm():
    (outputs, state), v = run(lambda: rnn.IndyLSTMCell(UNITS, forget_bias=0.5))
    c = h = np.zeros([3, UNITS])
    for t in range(2):
        gates = X[:, t] @ v["kernel_w"] + np.tile(h, 4) * v["kernel_u"] + v["bias"]
        i, new, f, o = np.split(gates, 4, axis=1)
        c = c * sigmoid(f + 0.5) + sigmoid(i) * np.tanh(new)
        h = np.tanh(c) * sigmoid(o)
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state.c, c, rtol=1e-4, atol=1e-6)


def test_sru():
    (outputs, state), v = run(lambda: rnn.SRUCell(UNITS))
    c = 0
    for t in range(2):
        new, f, r, through = np.split(X[:, t] @ v["kernel"], 4, axis=1)
        f, r = sigmoid(f + v["bias"][:UNITS]), sigmoid(r + v["bias"][UNITS:])
        c = f * c + (1 - f) * new
        h = r * np.tanh(c) + (1 - r) * through
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state, c, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_coupled_gates(layer_norm):
    (outputs, state), v = run(
        lambda: rnn.CoupledInputForgetGateLSTMCell(
            UNITS,
            use_peepholes=True,
            num_proj=3,
            proj_clip=0.1,
            forget_bias=0.5,
            layer_norm=layer_norm,
            norm_gain=2.0,
            norm_shift=0.5,
        )
    )

    def norm(x):
        if not layer_norm:
            return x
        return 2 * (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) + 0.5

    c, h = np.zeros([3, UNITS]), np.zeros([3, 3])
    for t in range(2):
        gates = np.concatenate([X[:, t], h], 1) @ v["W_0"]
        new, f, o = (norm(gate) for gate in np.split(gates, 3, axis=1))
        f = sigmoid(f + 0.5 + v["W_F_diag"] * c)
        c = norm(f * c + (1 - f) * np.tanh(new))
        h = np.clip(sigmoid(o + v["W_O_diag"] * c) * np.tanh(c) @ v["W_P_0"], -0.1, 0.1)
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(state.c, c, rtol=1e-3, atol=1e-5)
    assert {"transform/gamma", "state/beta"} <= set(v) if layer_norm else "B" in v


def test_shards_of_the_coupled_cell_are_one_kernel():
    """The weights in two variables, one above the other, compute the same."""
    (outputs, _), v = run(
        lambda: rnn.CoupledInputForgetGateLSTMCell(UNITS, num_unit_shards=2, state_is_tuple=False)
    )
    assert v["W_0"].shape == v["W_1"].shape
    kernel = np.concatenate([v["W_0"], v["W_1"]])
    new, f, o = np.split(X[:, 0] @ kernel[: X.shape[2]] + v["B"], 3, axis=1)
    expected = sigmoid(o) * np.tanh((1 - sigmoid(f + 1.0)) * np.tanh(new))
    np.testing.assert_allclose(outputs[:, 0], expected, rtol=1e-4, atol=1e-6)


def test_groups():
    """Each group sees its part of the inputs and of the output before."""
    (outputs, _), v = run(lambda: rnn.GLSTMCell(UNITS, number_of_groups=2, num_proj=2))
    c, h = np.zeros([3, UNITS]), np.zeros([3, 2])
    for t in range(2):
        parts = [
            np.split(np.concatenate([x, part], 1) @ v[f"group{g}/kernel"], 4, axis=1)
            for g, (x, part) in enumerate(zip(np.split(X[:, t], 2, 1), np.split(h, 2, 1)))
        ]
        i, new, f, o = (np.concatenate(part, 1) for part in zip(*parts))
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(new)
        h = (sigmoid(o) * np.tanh(c)) @ v["projection/kernel"]
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-4, atol=1e-6)
    assert {"bias_i", "bias_j", "bias_f", "bias_o"} <= set(v)


def test_groups_that_do_not_fit():
    with pytest.raises(ValueError, match=r"num_units \(4\) must be divisible by number_of_groups"):
        rnn.GLSTMCell(UNITS, number_of_groups=3)


@pytest.mark.parametrize("size", [UNITS, 6])
def test_intersection(size):
    x = RNG.normal(size=(3, 2, size)).astype(np.float32)
    proj = None if size == UNITS else UNITS
    (outputs, state), v = run(lambda: rnn.IntersectionRNNCell(UNITS, num_in_proj=proj), [x])
    h = np.zeros([3, UNITS])
    for t in range(2):
        seen = x[:, t]
        if proj:
            seen = seen @ v["in_projection/kernel"] + v["in_projection/bias"]
        parts = np.concatenate([seen, h], 1) @ v["kernel"] + v["bias"]
        gh, new, gy, y = np.split(parts, 4, axis=1)
        gh, gy = sigmoid(gh + 1), sigmoid(gy + 1)
        h = gh * h + (1 - gh) * np.tanh(new)
        out = gy * seen + (1 - gy) * np.maximum(y, 0)
        np.testing.assert_allclose(outputs[:, t], out, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state, h, rtol=1e-4, atol=1e-6)
    if proj:
        with pytest.raises(
            ValueError, match=r"To fix, num_in_proj should be set .*size is 6, num_units 4"
        ):
            run(lambda: rnn.IntersectionRNNCell(UNITS), [x])


@pytest.mark.parametrize("use_peepholes", [False, True])
def test_phases(use_peepholes):
    times = np.float32([[[0.5], [7.0]], [[100.0], [100.2]], [[3.0], [300.0]]])
    (outputs, state), v = run(
        lambda: rnn.PhasedLSTMCell(UNITS, use_peepholes, leak=0.01, ratio_on=0.4), [times, X]
    )
    c = h = np.zeros([3, UNITS])
    assert (v["period"] >= 1).all() and (v["period"] <= 1000).all()
    assert (v["phase"] >= 0).all() and (v["phase"] <= v["period"]).all()
    for t in range(2):
        seen = [X[:, t], h]
        i, f = np.split(sigmoid(dense(v, "mask_gates", seen + [c] * use_peepholes)), 2, axis=1)
        new = c * f + i * np.tanh(dense(v, "new_input", seen))
        o = sigmoid(dense(v, "output_gate", seen + [new] * use_peepholes))
        ratio = np.mod(times[:, t] - v["phase"], v["period"]) / v["period"]
        k = np.where(ratio < 0.4, 2 - 2 * ratio / 0.4, 0.01 * ratio)
        k = np.where(ratio < 0.2, 2 * ratio / 0.4, k)
        c, h = k * new + (1 - k) * c, k * np.tanh(new) * o + (1 - k) * h
        np.testing.assert_allclose(outputs[:, t], h, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(state.c, c, rtol=1e-3, atol=1e-5)


def dense(v, scope, tensors):
    return np.concatenate(tensors, 1) @ v[f"{scope}/kernel"] + v[f"{scope}/bias"]
