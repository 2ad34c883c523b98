"""Batch norm whose statistics may be those of the global batch, summed over the replicas."""

from __future__ import annotations

import tensorflow as tf

import estimator_bridge as eb

__all__ = ["NORM", "batch_norm"]

# The scope of its variables. LARS and the weight decay leave them out by this name.
NORM = "batch_normalization"
_MOMENTUM, _EPSILON = 0.9, 1e-5

_v1 = tf.compat.v1


def batch_norm(
    x: tf.Tensor, training: bool, across: bool, name: str, first_gamma: float = 1.0
) -> tf.Tensor:
    """Normalizes each channel by the mean and the variance of the batch.

    The statistics are computed in float32, whatever the type of `x`.

    Args:
        x: [batch, height, width, channels], one replica's part of the batch.
        training: whether to use the batch's statistics; otherwise their moving averages.
        across: whether the batch is the global one, over all replicas. A core's part of 32 or fewer
            examples has noisy statistics.
        name: of the layer.
        first_gamma: initial scale; 0 for the last norm of a residual block, so that the block
            begins as the identity.

    Returns:
        A tensor of the shape and type of `x`.
    """
    channels = x.shape[-1]
    with _v1.variable_scope(f"{name}/{NORM}"):
        gamma = _variable("gamma", channels, first_gamma)
        beta = _variable("beta", channels, 0.0)
        moving_mean = _variable("moving_mean", channels, 0.0, trainable=False)
        moving_variance = _variable("moving_variance", channels, 1.0, trainable=False)
        if not training:
            return _normalize(x, moving_mean, moving_variance, gamma, beta)
        mean, variance = _moments(tf.cast(x, tf.float32), across)
        for moving, value in ((moving_mean, mean), (moving_variance, variance)):
            update = _v1.assign_sub(moving, (1 - _MOMENTUM) * (moving - value))
            _v1.add_to_collection(_v1.GraphKeys.UPDATE_OPS, update)
        return _normalize(x, mean, variance, gamma, beta)


def _variable(name: str, channels: int, value: float, trainable: bool = True) -> tf.Variable:
    return _v1.get_variable(
        name,
        [channels],
        tf.float32,
        _v1.constant_initializer(value),
        trainable=trainable,
        use_resource=True,
    )


def _moments(x: tf.Tensor, across: bool) -> tuple[tf.Tensor, tf.Tensor]:
    axes = [0, 1, 2]
    if not across:
        return tf.nn.moments(x, axes)
    # One sum: of the means, of the mean squares, and of a 1, which counts the replicas.
    local_sums = [tf.reduce_mean(x, axes), tf.reduce_mean(tf.square(x), axes), tf.ones([1])]
    total = eb.tpu.cross_replica_sum(tf.concat(local_sums, axis=0))
    channels = x.shape[-1]
    mean, square, replicas = tf.split(total, [channels, channels, 1])
    mean, square = mean / replicas, square / replicas
    return mean, tf.maximum(square - tf.square(mean), 0.0)


def _normalize(
    x: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor
) -> tf.Tensor:
    scale = gamma * tf.math.rsqrt(variance + _EPSILON)
    shift = beta - mean * scale
    return x * tf.cast(scale, x.dtype) + tf.cast(shift, x.dtype)
