"""Random numbers by ordinary operations, beside TensorFlow's CPU kernels and compiled by XLA."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.graph.kernel_draws import has_kernel_draws, kernel_draw
from estimator_bridge.graph.op_kinds import DRAWS

KEY, COUNTER = np.array([(7 << 32) + 9], np.uint64), np.array([2**40 + 3, 2**63 + 5], np.uint64)


def by_xla(op, dtype, shape, *parameters):
    @tf.function(jit_compile=True, autograph=False)
    def compiled():
        values = (tf.constant(value) for value in (np.int32(shape), KEY, COUNTER, *parameters))
        return kernel_draw(op, dtype, *values)

    return compiled().numpy()


@pytest.mark.parametrize("shape", [[], [3], [2, 5, 7], [10_001], [0, 4]])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
@pytest.mark.parametrize("op", ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_the_numbers_are_those_of_the_kernel(op, dtype, shape):
    kernel = getattr(tf.raw_ops, DRAWS[op])
    expected = kernel(shape=shape, key=KEY, counter=COUNTER, alg=1, dtype=dtype).numpy()
    numbers = by_xla(op, dtype, shape)
    assert has_kernel_draws(op, dtype)
    assert numbers.shape == tuple(shape)
    assert numbers.dtype == expected.dtype
    rounding = {tf.float64: 1e-14, tf.float32: 2e-6, tf.float16: 2e-3, tf.bfloat16: 2e-2}[dtype]
    if op == "RandomUniform":
        rounding = 0
    np.testing.assert_allclose(
        numbers.astype(np.float64), expected.astype(np.float64), rtol=rounding, atol=rounding
    )


@pytest.mark.parametrize("shape", [[0], [501], [3, 2]])
@pytest.mark.parametrize("alpha", [0.02, [1.0, 0.3, 25.0], [[0.5], [4.0]], []])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
def test_gamma_variates_are_those_of_the_kernel(dtype, alpha, shape):
    alpha = np.array(alpha, dtype.as_numpy_dtype)
    whole = [*shape, *alpha.shape]
    expected = tf.raw_ops.StatelessRandomGammaV3(
        shape=np.int32(whole), key=KEY, counter=COUNTER, alg=1, alpha=alpha
    ).numpy()
    numbers = by_xla("RandomGamma", dtype, whole, alpha)
    assert has_kernel_draws("RandomGamma", dtype)
    assert numbers.dtype == expected.dtype
    rounding = {tf.float64: 1e-13, tf.float32: 1e-6, tf.float16: 1e-3}[dtype]
    np.testing.assert_allclose(
        numbers.astype(np.float64), expected.astype(np.float64), rtol=rounding, atol=1e-12
    )


def test_a_gamma_variate_without_a_distribution_is_nan():
    """The kernel's, too; a loop that waited for one would not end."""
    alpha = np.float32([np.nan, 2.0, -1.0, 0.0, np.inf])
    numbers = by_xla("RandomGamma", tf.float32, [3, 5], alpha)
    expected = tf.raw_ops.StatelessRandomGammaV3(
        shape=[3, 5], key=KEY, counter=COUNTER, alg=1, alpha=alpha
    )
    np.testing.assert_allclose(numbers, expected, rtol=1e-6)
    assert np.isnan(numbers).all(0).tolist() == [True, False, True, False, False]


def test_other_draws_have_none():
    assert not has_kernel_draws("RandomUniformInt", tf.int32)
    assert not has_kernel_draws("Multinomial", tf.float32)
