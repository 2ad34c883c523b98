"""A program's cross-replica batch normalization, overridden as in tensorflow/tpu."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.legacy.running.bridges.batch_norm import ignore_moments_mask

v1 = tf.compat.v1


@pytest.fixture
def bridged():
    base = next(k for k in v1.layers.BatchNormalization.__mro__ if "_moments" in vars(k))
    ignore_moments_mask()
    ignore_moments_mask()  # to call it again changes nothing
    yield
    del base.__init_subclass__


@pytest.mark.usefixtures("bridged")
@pytest.mark.parametrize("names_mask", [False, True])
def test_moments_without_a_mask(names_mask):
    class Shifted(v1.layers.BatchNormalization):
        if names_mask:

            def _moments(self, inputs, reduction_axes, keep_dims, mask=None):
                mean, variance = super()._moments(inputs, reduction_axes, keep_dims, mask=mask)
                return mean + 1, variance
        else:

            def _moments(self, inputs, reduction_axes, keep_dims):
                mean, variance = super()._moments(inputs, reduction_axes, keep_dims=keep_dims)
                return mean + 1, variance

    rows = np.array([[1.0], [3.0]], np.float32)
    with tf.Graph().as_default(), v1.Session() as session:
        normalized = Shifted(fused=False, epsilon=0.0)(rows, training=True)
        session.run(v1.global_variables_initializer())
        # mean 2 and a shift of 1, standard deviation 1
        np.testing.assert_allclose(session.run(normalized), [[-2.0], [0.0]], rtol=1e-5)
