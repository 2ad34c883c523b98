"""Augmentation of small images in whole batches, where a map of single ones would cost more."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["shifted"]


def shifted(images: tf.Tensor, max_shift: int, seed: int | None = None) -> tf.Tensor:
    """Shifts each image by its own number of pixels, in both directions; zeros come in.

    Args:
        images: [batch, height, width, channels].
        max_shift: the largest shift, in pixels.
        seed: of the shifts.

    Returns:
        Images of the same shape and type.
    """
    shape = images.shape
    padded = tf.pad(images, [[0, 0], [max_shift, max_shift], [max_shift, max_shift], [0, 0]])
    for size in (shape[1], shape[2]):  # rows, then columns, which the transposition puts there
        start = tf.random.uniform([tf.shape(images)[0], 1], 0, 2 * max_shift + 1, tf.int32, seed)
        window = tf.gather(padded, start + tf.range(size)[tf.newaxis], axis=1, batch_dims=1)
        padded = tf.transpose(window, [0, 2, 1, 3])
    return tf.ensure_shape(padded, shape)
