"""LSTMs over images, whose tensors have the shape [images, height, width, depth]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.ndlstm import lstm1d

__all__ = [
    "get_blocks",
    "horizontal_lstm",
    "images_to_sequence",
    "reduce_to_final",
    "reduce_to_sequence",
    "separable_lstm",
    "sequence_to_images",
]

_scope = tf.compat.v1.variable_scope


def images_to_sequence(tensor: tf.Tensor) -> tf.Tensor:
    """Makes a sequence of columns from images.

    Args:
      tensor: images of known shape [images, height, width, depth].

    Returns:
      A sequence of shape [width, images * height, depth].
    """
    images, height, width, depth = tensor.shape.as_list()
    columns = tf.transpose(tensor, [2, 0, 1, 3])
    return tf.reshape(columns, [width, images * height, depth])


def sequence_to_images(tensor: tf.Tensor, num_image_batches: int) -> tf.Tensor:
    """Reverts `images_to_sequence`.

    Args:
      tensor: a sequence of known shape [width, images * height, depth].
      num_image_batches: the number of images.

    Returns:
      Images, of shape [images, height, width, depth].
    """
    width, rows, depth = tensor.shape.as_list()
    columns = tf.reshape(tensor, [width, num_image_batches, rows // num_image_batches, depth])
    return tf.transpose(columns, [1, 2, 0, 3])


def horizontal_lstm(images: tf.Tensor, num_filters_out: int, scope: Any = None) -> tf.Tensor:
    """Runs an LSTM over the rows from the left, and one from the right.

    Args:
      images: images of known shape [images, height, width, depth].
      num_filters_out: the depth of the output; the LSTM from the left has half of it, rounded down.
      scope: the variables' scope.

    Returns:
      Images of shape [images, height, width, num_filters_out].
    """
    with _scope(scope, "HorizontalLstm", [images]):
        sequence = images_to_sequence(images)
        from_left = num_filters_out // 2
        with _scope("lr"):
            left = lstm1d.ndlstm_base(sequence, from_left)
        with _scope("rl"):
            right = lstm1d.ndlstm_base(sequence, num_filters_out - from_left, reverse=True)
        return sequence_to_images(tf.concat([left, right], 2), images.shape.as_list()[0])


def get_blocks(images: tf.Tensor, kernel_size: Sequence[int]) -> tf.Tensor:
    """Makes one pixel of each block of pixels; zeros fill up the last row and column.

    Args:
      images: images of known shape [images, height, width, depth].
      kernel_size: the height and the width of a block.

    Returns:
      Images of shape [images, rows, columns, depth * pixels of a block].
    """
    with _scope("image_blocks"):
        images = _filled(_filled(images, 1, kernel_size[0]), 2, kernel_size[1])
        count, height, width, depth = images.shape.as_list()
        rows, columns = height // kernel_size[0], width // kernel_size[1]
        pixels = depth * kernel_size[0] * kernel_size[1]
        blocks = [
            tf.reshape(tf.transpose(row, [0, 2, 3, 1]), [count, columns, pixels])
            for row in tf.split(images, rows, axis=1)
        ]
        return tf.stack(blocks, axis=1)


def _filled(images: tf.Tensor, axis: int, size: int) -> tf.Tensor:
    """Appends zeros so that a multiple of a size fits along an axis."""
    shape = images.shape.as_list()
    if not shape[axis] % size:
        return images
    shape[axis] = size - shape[axis] % size
    return tf.concat([images, tf.zeros(shape)], axis)


def separable_lstm(
    images: tf.Tensor,
    num_filters_out: int,
    kernel_size: Sequence[int] | None = None,
    nhidden: int | None = None,
    scope: Any = None,
) -> tf.Tensor:
    """Runs LSTMs in both directions over the rows, and then over the columns.

    Args:
      images: images of known shape [images, height, width, depth].
      num_filters_out: the depth of the output.
      kernel_size: the height and the width of blocks of pixels, see `get_blocks`; None for single
        pixels.
      nhidden: the depth between the two; by default that of the output.
      scope: the variables' scope.

    Returns:
      Images of shape [images, rows, columns, num_filters_out].
    """
    with _scope(scope, "SeparableLstm", [images]):
        if kernel_size is not None:
            images = get_blocks(images, kernel_size)
        hidden = horizontal_lstm(images, num_filters_out if nhidden is None else nhidden)
        with _scope("vertical"):
            turned = tf.transpose(hidden, [0, 2, 1, 3])
            output = horizontal_lstm(turned, num_filters_out)
        return tf.transpose(output, [0, 2, 1, 3])


def reduce_to_sequence(images: tf.Tensor, num_filters_out: int, scope: Any = None) -> tf.Tensor:
    """Runs an LSTM down each column and returns its last output.

    Args:
      images: images of known shape [images, height, width, depth].
      num_filters_out: the depth of the output.
      scope: the variables' scope.

    Returns:
      The columns' outputs, of shape [images, width, num_filters_out].
    """
    with _scope(scope, "ReduceToSequence", [images]):
        return _reduced(_rows(images), images, num_filters_out)


def reduce_to_final(
    images: tf.Tensor, num_filters_out: int, nhidden: int | None = None, scope: Any = None
) -> tf.Tensor:
    """Runs an LSTM down each column, and one over the columns' last outputs.

    Args:
      images: images of known shape [images, height, width, depth].
      num_filters_out: the depth of the output.
      nhidden: the depth between the two; by default that of the output.
      scope: the variables' scope.

    Returns:
      A vector for each image, of shape [images, num_filters_out].
    """
    with _scope(scope, "ReduceToFinal", [images]):
        rows = _rows(images)
        with _scope("reduce1"):
            columns = tf.transpose(_reduced(rows, images, nhidden or num_filters_out), [1, 0, 2])
        with _scope("reduce2"):
            return lstm1d.sequence_to_final(columns, num_filters_out)


def _rows(images: tf.Tensor) -> tf.Tensor:
    """Returns images as a sequence of rows, of shape [height, images * width, depth]."""
    count, height, width, depth = images.shape.as_list()
    return tf.reshape(tf.transpose(images, [1, 0, 2, 3]), [height, count * width, depth])


def _reduced(rows: tf.Tensor, images: tf.Tensor, depth: int) -> tf.Tensor:
    count, _, width, _ = images.shape.as_list()
    return tf.reshape(lstm1d.sequence_to_final(rows, depth), [count, width, depth])
