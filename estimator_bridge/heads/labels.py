"""Conversion of labels to class numbers and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.heads.shapes import checked

__all__ = ["all_class_ids", "all_classes", "check_range", "class_ids_of", "class_names"]

_TOO_LARGE = "Labels {} <= {} - 1"
_NEGATIVE = "Labels {} >= 0"
_ADVICE = (
    "With n_classes={}, labels count from 0 up to n_classes - 1; a label that is not in "
    "label_vocabulary is -1."
)


def check_range(
    labels: Any, n_classes: Any, message: str | None = None, must: str = "must be"
) -> tf.Tensor:
    """Checks that labels are class numbers, 0 <= label < n_classes.

    Args:
      labels: numbers, of any shape.
      n_classes: number of classes.
      message: the beginning of errors, instead of the default.
      must: the verb of the default message: V1's heads left out "be", and users search for that.

    Returns:
      The labels. In a graph, computing them fails if one is out of range.

    Raises:
      ValueError: when executing eagerly, a label is out of range.
      tf.errors.InvalidArgumentError: in a graph, a constant label is out of range.
    """
    with tf.name_scope("check_range"):
        labels = tf.convert_to_tensor(labels)
        values = tf.get_static_value(labels)
        if values is not None and not tf.is_tensor(n_classes):
            _check_values(values, n_classes, message, must)
            return labels
        largest = tf.cast(n_classes - 1, labels.dtype)
        for holds, text in (
            (tf.reduce_all(labels <= largest), _TOO_LARGE.format(must, "n_classes")),
            (tf.reduce_all(labels >= 0), _NEGATIVE.format(must)),
        ):
            advice = f"{message or text}. {_ADVICE.format(n_classes)} Labels: "
            labels = checked(labels, holds, [advice, labels])
        return labels


def _check_values(values: np.ndarray, n_classes: int, message: str | None, must: str) -> None:
    eagerly = tf.executing_eagerly()
    for outside, text in (
        (values > n_classes - 1, _TOO_LARGE.format(must, n_classes if eagerly else "n_classes")),
        (values < 0, _NEGATIVE.format(must)),
    ):
        if outside.any():
            wrong = values[outside].ravel()[:10].tolist()
            error = f"{message or text}, got {wrong}. {_ADVICE.format(n_classes)}"
            raise (
                ValueError(error) if eagerly else tf.errors.InvalidArgumentError(None, None, error)
            )


def class_ids_of(labels: tf.Tensor, vocabulary: Sequence[Any]) -> tf.Tensor:
    """Maps class names to numbers; -1 for a name that is not in the vocabulary."""
    keys = tf.convert_to_tensor(list(vocabulary))
    if keys.dtype.is_integer:
        keys = tf.cast(keys, tf.int64)
        labels = tf.cast(labels, tf.int64)
    numbers = tf.range(len(vocabulary), dtype=tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, numbers), -1)
    return table.lookup(labels)


def class_names(class_ids: tf.Tensor, vocabulary: Sequence[Any] | None) -> tf.Tensor:
    """Maps class numbers to names; without a vocabulary, to the numbers as strings."""
    if vocabulary is None:
        return tf.strings.as_string(class_ids, name="str_classes")
    return tf.gather(tf.convert_to_tensor(list(vocabulary)), class_ids, name="classes")


def all_class_ids(logits: tf.Tensor, n_classes: Any) -> tf.Tensor:
    """Returns the numbers of all classes, for each example of a batch: int32 [batch, n_classes]."""
    return tf.tile(tf.expand_dims(tf.range(n_classes), 0), [tf.shape(logits)[0], 1])


def all_classes(logits: tf.Tensor, n_classes: Any, vocabulary: Sequence[Any] | None) -> tf.Tensor:
    """Returns the names of all classes, for each example of a batch: strings [batch, n_classes]."""
    names = class_names(tf.range(n_classes), vocabulary)
    return tf.tile(tf.expand_dims(names, 0), [tf.shape(logits)[0], 1])
