"""Labels as numbers of classes, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.shapes import checked

__all__ = ["all_class_ids", "all_classes", "check_range", "class_ids_of", "class_names"]


def check_range(labels: Any, n_classes: Any, message: str | None = None) -> tf.Tensor:
    """Checks that labels are the numbers of classes, 0 <= label < n_classes.

    Args:
      labels: numbers, of any shape.
      n_classes: how many classes there are.
      message: what an error is to begin with.

    Returns:
      The labels.

    Raises:
      ValueError: when executing eagerly, one is out of range.
    """
    with tf.name_scope("check_range"):
        labels = tf.convert_to_tensor(labels)
        most = tf.cast(n_classes - 1, labels.dtype)
        if tf.executing_eagerly():
            _check_eagerly(labels, n_classes, message)
            return labels
        advice = f"With {n_classes} classes, labels are 0 to {n_classes - 1}; a label that is not "
        advice += "in label_vocabulary is -1. Labels: "
        for holds, said in (
            (tf.reduce_all(labels <= most), "Labels must be <= n_classes - 1"),
            (tf.reduce_all(labels >= 0), "Labels must be >= 0"),
        ):
            labels = checked(labels, holds, [f"{message or said}. {advice}", labels])
        return labels


def _check_eagerly(labels: tf.Tensor, n_classes: Any, message: str | None) -> None:
    for outside, said in (
        (labels > tf.cast(n_classes - 1, labels.dtype), f"Labels must be <= {n_classes} - 1"),
        (labels < 0, "Labels must be >= 0"),
    ):
        if tf.reduce_any(outside):
            wrong = tf.boolean_mask(labels, outside).numpy().ravel()[:10].tolist()
            raise ValueError(
                f"{message or said}, got {wrong}. With {n_classes} classes, labels are 0 to "
                f"{n_classes - 1}; a label that is not in label_vocabulary is -1."
            )


def class_ids_of(labels: tf.Tensor, vocabulary: Sequence[Any]) -> tf.Tensor:
    """The numbers of classes by their names; -1 for a name that is not in the vocabulary."""
    keys = tf.convert_to_tensor(list(vocabulary))
    if keys.dtype.is_integer:
        keys = tf.cast(keys, tf.int64)
        labels = tf.cast(labels, tf.int64)
    numbers = tf.range(len(vocabulary), dtype=tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, numbers), -1)
    return table.lookup(labels)


def class_names(class_ids: tf.Tensor, vocabulary: Sequence[Any] | None) -> tf.Tensor:
    """The names of classes by their numbers; the numbers as strings without a vocabulary."""
    if vocabulary is None:
        return tf.strings.as_string(class_ids, name="str_classes")
    return tf.gather(tf.convert_to_tensor(list(vocabulary)), class_ids, name="classes")


def all_class_ids(logits: tf.Tensor, n_classes: Any) -> tf.Tensor:
    """The numbers of all classes, for each example of a batch: int32 [batch, n_classes]."""
    return tf.tile(tf.expand_dims(tf.range(n_classes), 0), [tf.shape(logits)[0], 1])


def all_classes(logits: tf.Tensor, n_classes: Any, vocabulary: Sequence[Any] | None) -> tf.Tensor:
    """The names of all classes, for each example of a batch: strings [batch, n_classes]."""
    names = class_names(tf.range(n_classes), vocabulary)
    return tf.tile(tf.expand_dims(names, 0), [tf.shape(logits)[0], 1])
