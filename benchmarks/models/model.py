"""A classifier, written three times: as a model_fn of TF1, by hand in TF2, and in tf_keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.models.optimizers import Momentum

__all__ = ["EXAMPLES", "Model"]

_v1 = tf.compat.v1
EXAMPLES = 1024


class Model:
    """Trains a network, which subclasses define.

    Attributes:
      batch: number of examples a step.
      classes: number of labels.
    """

    batch = 32
    classes = 10

    def __init__(self):
        self.optimizer: Any = Momentum()

    def features(self, rng: np.random.RandomState, examples: int) -> np.ndarray:
        """Returns random examples."""
        raise NotImplementedError

    def v1_logits(self, features: tf.Tensor) -> tf.Tensor:
        """Builds the network with TF1's API."""
        raise NotImplementedError

    def weights(self) -> list[tuple[int, ...]]:
        """Returns the shapes of the variables of ``logits``."""
        raise NotImplementedError

    def logits(self, features: tf.Tensor, weights: list[tf.Variable]) -> tf.Tensor:
        """Builds the network by hand."""
        raise NotImplementedError

    def keras(self) -> Any:
        """Builds the network with tf_keras."""
        raise NotImplementedError

    def spec(self, estimators: Any) -> Callable:
        """Returns the model_fn, whose EstimatorSpec is that of ``estimators``."""

        def model_fn(features, labels, mode):
            logits = self.v1_logits(features)
            if mode == "infer":
                predictions = {"class": tf.argmax(logits, 1), "scores": tf.nn.softmax(logits)}
                return estimators.EstimatorSpec(mode, predictions=predictions)
            loss = cross_entropy(labels, logits)
            if mode == "eval":
                accuracy = _v1.metrics.accuracy(labels, tf.argmax(logits, 1))
                metrics = {"accuracy": accuracy}
                return estimators.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
            train_op = self.optimizer.v1().minimize(loss, _v1.train.get_global_step())
            return estimators.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return model_fn

    def by_hand(self) -> Callable:
        """Returns a tf.function of an iterator and a number of steps, with the same operations."""
        weights, step = self.start(), tf.Variable(0, dtype=tf.int64)
        self.optimizer.prepare(weights)

        @tf.function
        def loop(iterator, steps):
            loss = tf.constant(0.0)
            for _ in tf.range(steps):
                features, labels = next(iterator)
                with tf.GradientTape() as tape:
                    loss = cross_entropy(labels, self.logits(features, weights))
                self.optimizer.apply(weights, tape.gradient(loss, weights))
                step.assign_add(1)
            return loss

        return loop

    def bare(self, by_xla: bool) -> Callable:
        """Returns a tf.function of a number of steps: the arithmetic alone, on resident batches.

        Args:
          by_xla: whether XLA compiles it.
        """
        weights, step = self.start(), tf.Variable(0, dtype=tf.int64)
        self.optimizer.prepare(weights)
        count = EXAMPLES // self.batch or 1
        rows = [a.reshape([count, -1, *a.shape[1:]]) for a in self.examples(count * self.batch)]
        features, labels = (tf.Variable(part, trainable=False) for part in rows)

        @tf.function(jit_compile=by_xla)
        def loop(steps):
            loss = tf.constant(0.0)
            xs, ys = features.read_value(), labels.read_value()
            for i in tf.range(steps):
                with tf.GradientTape() as tape:
                    loss = cross_entropy(ys[i % count], self.logits(xs[i % count], weights))
                self.optimizer.apply(weights, tape.gradient(loss, weights))
                step.assign_add(1)
            return loss

        return loop

    def start(self) -> list[tf.Variable]:
        """Returns the initial weights of ``logits``."""
        return [
            tf.Variable(tf.random.normal(s, stddev=0.1) if len(s) > 1 else tf.zeros(s))
            for s in self.weights()
        ]

    def examples(self, count: int = EXAMPLES) -> tuple[np.ndarray, np.ndarray]:
        """Returns features and labels."""
        rng = np.random.RandomState(0)
        return self.features(rng, count), rng.randint(0, self.classes, count)

    def dataset(self, count: int = EXAMPLES) -> tf.data.Dataset:
        """Returns endless batches of fixed shape, of that many examples."""
        examples = tf.data.Dataset.from_tensor_slices(self.examples(count))
        return examples.repeat().batch(self.batch, drop_remainder=True).prefetch(4)


def cross_entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Returns the mean over the batch."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)
