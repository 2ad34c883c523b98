"""tf.contrib.batching: a function whose concurrent calls are computed as one batch."""

import tensorflow as tf

__all__ = ["batch_function"]

batch_function = tf.nondifferentiable_batch_function
