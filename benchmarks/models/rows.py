"""A step that only reads its batch, so that the input's own limit shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.models.mlp import MLP
from benchmarks.models.model import EXAMPLES

__all__ = ["Generated", "Records", "Rows"]

_v1 = tf.compat.v1


class Rows(MLP):
    """Batches of 32 rows of 64 numbers and their labels.

    Args:
      is_shuffled: whether each epoch has another order.
    """

    def __init__(self, is_shuffled: bool = False):
        super().__init__()
        self.is_shuffled = is_shuffled

    def spec(self, estimators: Any) -> Callable:
        """Returns a model_fn whose train_op counts steps."""

        def model_fn(features, labels, mode):
            train_op = _v1.train.get_global_step().assign_add(1)
            loss = _one_number(features, labels)
            return estimators.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return model_fn

    def by_hand(self) -> Callable:
        """Returns a tf.function of an iterator and a number of steps, with the same operations."""
        step = tf.Variable(0, dtype=tf.int64)

        @tf.function
        def loop(iterator, steps):
            loss = tf.constant(0.0)
            for _ in tf.range(steps):
                loss = _one_number(*next(iterator))
                step.assign_add(1)
            return loss

        return loop

    def dataset(self, count: int = EXAMPLES) -> tf.data.Dataset:
        """Returns endless batches of fixed shape, of that many examples."""
        examples = tf.data.Dataset.from_tensor_slices(self.examples(count))
        if self.is_shuffled:
            examples = examples.shuffle(count, seed=1)
        return examples.repeat().batch(self.batch, drop_remainder=True).prefetch(4)


class Records(Rows):
    """The same rows, as records that are parsed one by one."""

    def dataset(self, count: int = EXAMPLES) -> tf.data.Dataset:
        """Returns endless batches of fixed shape, of that many examples."""
        records = [_record(*row) for row in zip(*self.examples(count))]
        examples = tf.data.Dataset.from_tensor_slices(records).shuffle(count, seed=1).repeat()
        return examples.map(_parse).batch(self.batch, drop_remainder=True).prefetch(4)


class Generated(Rows):
    """The same rows, from a Python generator that yields one at a time."""

    def dataset(self, count: int = EXAMPLES) -> tf.data.Dataset:
        """Returns endless batches of fixed shape, of that many examples."""
        features, labels = self.examples(count)

        def rows():
            while True:
                yield from zip(features, labels)

        kinds, shapes = (tf.float32, labels.dtype), (features.shape[1:], [])
        examples = tf.data.Dataset.from_generator(rows, kinds, shapes)
        return examples.batch(self.batch, drop_remainder=True).prefetch(4)


def _record(features: np.ndarray, label: np.integer) -> bytes:
    row = tf.train.Feature(float_list=tf.train.FloatList(value=features))
    number = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
    example = tf.train.Features(feature={"row": row, "label": number})
    return tf.train.Example(features=example).SerializeToString()


def _parse(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    row = tf.io.FixedLenFeature([64], tf.float32)
    spec = {"row": row, "label": tf.io.FixedLenFeature([], tf.int64)}
    example = tf.io.parse_single_example(record, spec)
    return example["row"], example["label"]


def _one_number(features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return features[0, 0] + tf.cast(labels[0], tf.float32)
