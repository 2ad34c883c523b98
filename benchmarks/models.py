"""The models that are measured, each written twice: as a model_fn, and by hand in TF2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

import estimator_bridge as eb

__all__ = ["MODELS", "Model", "dataset"]

_v1 = tf.compat.v1
BATCH = 32
_EXAMPLES = 1024
_LEARNING_RATE, _MOMENTUM = 0.01, 0.9


class Model:
    """A model under measurement.

    Args:
      name: for the report.
      shape: of one example.
      v1_logits: from features, in TF1's way.
      weights: the shapes of the hand-written model's variables.
      logits: from features and variables, by hand.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        v1_logits: Callable,
        weights: list[tuple[int, ...]],
        logits: Callable,
    ):
        self.name, self.shape = name, shape
        self._v1_logits, self._weights, self._logits = v1_logits, weights, logits

    def model_fn(self, features, labels, mode):
        """The model as an old program has it."""
        loss = _loss(labels, self._v1_logits(features))
        optimizer = _v1.train.MomentumOptimizer(_LEARNING_RATE, _MOMENTUM)
        train_op = optimizer.minimize(loss, _v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def by_hand(self) -> Callable:
        """The bar: a tf.function over tf.range, with the same operations a step."""
        variables = [tf.Variable(_start(shape)) for shape in self._weights]
        slots = [tf.Variable(tf.zeros(shape)) for shape in self._weights]
        step = tf.Variable(0, dtype=tf.int64)

        @tf.function
        def loop(iterator, steps):
            loss = tf.constant(0.0)
            for _ in tf.range(steps):
                features, labels = next(iterator)
                with tf.GradientTape() as tape:
                    loss = _loss(labels, self._logits(features, variables))
                gradients = tape.gradient(loss, variables)
                for variable, slot, gradient in zip(variables, slots, gradients):
                    tf.raw_ops.ResourceApplyMomentum(
                        var=variable.handle,
                        accum=slot.handle,
                        lr=_LEARNING_RATE,
                        grad=gradient,
                        momentum=_MOMENTUM,
                    )
                step.assign_add(1)
            return loss

        return loop


def dataset(model: Model) -> tf.data.Dataset:
    """Batches without an end, of fixed shape."""
    rng = np.random.RandomState(0)
    features = rng.rand(_EXAMPLES, *model.shape).astype(np.float32)
    labels = rng.randint(0, 10, _EXAMPLES)
    examples = tf.data.Dataset.from_tensor_slices((features, labels))
    return examples.repeat().batch(BATCH, drop_remainder=True).prefetch(4)


def _loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def _start(shape: tuple[int, ...]) -> tf.Tensor:
    return tf.random.normal(shape, stddev=0.1) if len(shape) > 1 else tf.zeros(shape)


def _mlp_v1(x):
    return _v1.layers.dense(_v1.layers.dense(x, 128, tf.nn.relu), 10)


def _mlp(x, w):
    return tf.nn.bias_add(
        tf.matmul(tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w[0]), w[1])), w[2]), w[3]
    )


def _conv_v1(x):
    x = _v1.layers.conv2d(x, 16, 3, padding="same", activation=tf.nn.relu)
    x = _v1.layers.max_pooling2d(x, 2, 2)
    x = _v1.layers.conv2d(x, 32, 3, padding="same", activation=tf.nn.relu)
    x = _v1.layers.flatten(_v1.layers.max_pooling2d(x, 2, 2))
    return _v1.layers.dense(x, 10)


def _conv(x, w):
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w[0], 1, "SAME"), w[1]))
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w[2], 1, "SAME"), w[3]))
    x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), [-1, 4 * 4 * 32])
    return tf.nn.bias_add(tf.matmul(x, w[4]), w[5])


MODELS = [
    Model("MLP 64-128-10, batch 32", (64,), _mlp_v1, [(64, 128), (128,), (128, 10), (10,)], _mlp),
    Model(
        "conv net 16x16, batch 32",
        (16, 16, 1),
        _conv_v1,
        [(3, 3, 1, 16), (16,), (3, 3, 16, 32), (32,), (512, 10), (10,)],
        _conv,
    ),
]
